// The integer program solved by Cbc, as TAG does. The only door to Cbc.
#pragma once

#include <stop_token>

#include "core/program/sfb/sfb_program.h"

namespace strato {

// Of several optima any, the same in each call. After `seconds` (elapsed), or soon after it is
// asked to stop, the best choice so far: at worst nothing is duplicated. Safe from any thread:
// every call has a model of its own, and prints nothing.
SfbSolution solve_by_cbc(const SfbProgram& program, double seconds, std::stop_token stop = {});

}  // namespace strato
