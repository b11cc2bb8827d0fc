// The trainer of the planner `gdp` ("GDP-batch", GDP 3.3 and 4.3): one policy learns from many
// graphs on many clusters, and is measured on pairs that nothing is learned from.
//
// method=replay (not in the paper): pairs of a model and a cluster are searched for good placements
// (lessons.h), and every step learns from a few of all pairs met so far, so that nothing is
// forgotten. method=ppo, as in the paper: a visit takes a random model to a random cluster and
// plays a few rounds of PPO there; then the next.
#pragma once

#include <memory>

#include "core/plugin/load/plugin_registry.h"
#include "core/search/api/trainer.h"

namespace strato::gdp {

// `heuristics`: whose quick planners are teachers; null: none. Must outlive the trainer.
std::unique_ptr<Trainer> make_trainer(const PluginRegistry* heuristics = nullptr);

}  // namespace strato::gdp
