// The trainer of the planner `gdp` ("GDP-batch", GDP 3.3 and 4.3): one policy learns from many
// graphs on many clusters, one visit after another.
//
// A visit takes a random model to a random cluster, tries the known placements there, and plays a
// few rounds of PPO. Nothing but the network, the optimizer and the number of visits lives from
// visit to visit, and everything follows from the seed and that number: a training that goes on
// from a checkpoint makes the weights that it would have made without the pause.
#pragma once

#include <memory>

#include "core/search/trainer.h"

namespace strato::gdp {

std::unique_ptr<Trainer> make_trainer();

}  // namespace strato::gdp
