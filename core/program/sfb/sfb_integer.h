// The integer program solved by Cbc (core/linear/solver.h), as TAG does.
#pragma once

#include <stop_token>

#include "core/program/sfb/sfb_problem.h"

namespace strato {

// Of several optima any, the same in each call. After `seconds` (elapsed), or soon after it is
// asked to stop, the best choice so far: at worst nothing is duplicated. Safe from any thread:
// every call has a model of its own, and prints nothing.
SfbSolution solve_by_cbc(const SfbProblem& problem, double seconds, std::stop_token stop = {});

}  // namespace strato
