// Which planner to begin with where nobody names one.
#pragma once

#include <string_view>

#include "core/search/api/problem.h"

namespace strato {

// "meshes" for what large models are trained on: more than 64 devices, or equal ones of which none
// holds all of the model's parameters and states, so that data parallelism does not fit; else
// "mcts".
std::string_view usual_planner(const Problem& problem, bool data_parallelism_fits);
// Simulates data parallelism where that decides it.
std::string_view usual_planner(const Problem& problem);

}  // namespace strato
