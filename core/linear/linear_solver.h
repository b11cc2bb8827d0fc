// Linear programs, solved by Clp. Safe from any thread: every call has a model of its own, and
// prints nothing. The result depends on the arguments alone.
#pragma once

#include <optional>
#include <vector>

#include "core/linear/linear_program.h"

namespace strato {

// The optimum's values by column; every column may be a fraction. Nothing when the dual simplex
// needs more iterations than that, or there is no optimum.
std::optional<std::vector<double>> solve_linear(const LinearProgram& program, int most_iterations);

}  // namespace strato
