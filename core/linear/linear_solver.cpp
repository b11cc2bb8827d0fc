#include "core/linear/linear_solver.h"

#include <ClpSimplex.hpp>

#include "core/linear/coin.h"

namespace strato {

std::optional<std::vector<double>> solve_linear(const LinearProgram& program, int most_iterations) {
  ClpSimplex model;
  model.setLogLevel(0);
  load(program, model);
  model.setMaximumIterations(most_iterations);
  model.dual();
  if (!model.isProvenOptimal()) return std::nullopt;
  const double* values = model.primalColumnSolution();
  return std::vector<double>(values, values + program.columns());
}

}  // namespace strato
