// The trainer of the planner `gdp` ("GDP-batch", GDP 3.3 and 4.3): one policy learns from many
// graphs on many clusters.
//
// By default (method=replay, not in the paper) pairs of a model and a cluster are searched for good
// placements (teacher.h), and every step learns from a few of all pairs met so far, so that nothing
// is forgotten. With method=ppo a visit takes a random model to a random cluster and plays a few
// rounds of PPO there, as the paper does; then the next.
//
// Everything follows from the seed, the number of steps, and what a checkpoint has: a training that
// goes on makes the weights that it would have made without the pause. With a budget of time the
// clock drives the rate, too.
#pragma once

#include <memory>

#include "core/plugin/load/plugin_registry.h"
#include "core/search/api/trainer.h"

namespace strato::gdp {

// `heuristics`: whose quick planners are teachers; null: none. Must outlive the trainer.
std::unique_ptr<Trainer> make_trainer(const PluginRegistry* heuristics = nullptr);

}  // namespace strato::gdp
