// A linear program, or a mixed-integer one: min cost x, least <= A x <= most for each constraint,
// lower <= x <= upper, some x whole. A value; solver.h solves it.
#pragma once

#include <limits>
#include <utility>
#include <vector>

namespace strato {

struct LinearProgram {
  static constexpr double kInfinity = std::numeric_limits<double>::max();
  using Terms = std::vector<std::pair<int, double>>;  // column, coefficient

  struct Constraint {
    Terms terms;  // ascending by column, none twice, none zero
    double least = -kInfinity, most = kInfinity;
  };

  std::vector<double> lower, upper, cost;  // by column
  int integers = 0;                        // so many columns, the first ones, are whole
  std::vector<Constraint> constraints;

  int columns() const { return static_cast<int>(cost.size()); }
  // Returns its column.
  int add_column(double least, double most, double price = 0);
  // In any order; the coefficients of one column are summed.
  void add_constraint(Terms terms, double least, double most);
  double objective(const std::vector<double>& values) const;
};

}  // namespace strato
