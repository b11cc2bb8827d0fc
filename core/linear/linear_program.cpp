#include "core/linear/linear_program.h"

#include <algorithm>

namespace strato {

int LinearProgram::add_column(double least, double most, double price) {
  lower.push_back(least);
  upper.push_back(most);
  cost.push_back(price);
  return columns() - 1;
}

void LinearProgram::add_constraint(Terms terms, double least, double most) {
  std::ranges::sort(terms);
  Constraint& constraint = constraints.emplace_back(Constraint{{}, least, most});
  for (const auto& [column, factor] : terms) {
    if (!constraint.terms.empty() && constraint.terms.back().first == column)
      constraint.terms.back().second += factor;
    else
      constraint.terms.emplace_back(column, factor);
  }
  std::erase_if(constraint.terms, [](const auto& term) { return term.second == 0; });
}

double LinearProgram::objective(const std::vector<double>& values) const {
  double sum = 0;
  for (std::size_t c = 0; c < cost.size(); ++c) sum += cost[c] * values[c];
  return sum;
}

}  // namespace strato
