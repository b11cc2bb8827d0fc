// Inside core/linear only: a linear program in the form that Clp and Cbc take.
#pragma once

#include <CoinPackedMatrix.hpp>
#include <vector>

#include "core/linear/linear_program.h"

namespace strato {

template <class Model>
void load(const LinearProgram& program, Model& model) {
  std::vector<CoinBigIndex> begin{0};
  std::vector<int> columns;
  std::vector<double> factors, least, most;
  for (const LinearProgram::Constraint& constraint : program.constraints) {
    for (const auto& [column, factor] : constraint.terms) {
      columns.push_back(column);
      factors.push_back(factor);
    }
    begin.push_back(static_cast<CoinBigIndex>(columns.size()));
    least.push_back(constraint.least);
    most.push_back(constraint.most);
  }
  const CoinPackedMatrix matrix(false, program.columns(), static_cast<int>(least.size()),
                                begin.back(), factors.data(), columns.data(), begin.data(),
                                nullptr);
  model.loadProblem(matrix, program.lower.data(), program.upper.data(), program.cost.data(),
                    least.data(), most.data());
}

}  // namespace strato
