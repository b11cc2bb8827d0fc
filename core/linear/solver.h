// Linear programs, solved by Clp, and mixed-integer ones, solved by Cbc. Safe from any thread:
// every call has a model of its own, and prints nothing.
#pragma once

#include <limits>
#include <optional>
#include <stop_token>
#include <utility>
#include <vector>

namespace strato {

// min cost x, least <= A x <= most for each constraint, lower <= x <= upper, some x whole.
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

// The optimum's values by column; every column may be a fraction. Nothing when the dual simplex
// needs more iterations than that, or there is no optimum. Depends on the arguments alone.
std::optional<std::vector<double>> solve_linear(const LinearProgram& program, int most_iterations);

struct IntegerSearch {
  double seconds = 10;  // elapsed
  std::stop_token stop;
  // For hard programs: the relaxation is solved on its own first, then cuts and heuristics help.
  bool thorough = false;
  std::vector<double> start;    // a solution to begin with, by column; empty: none is known
  std::vector<int> priorities;  // of branching, by integer column: low ones first; empty: equal
};

struct IntegerSolution {
  std::vector<double> values;  // by column; empty: none was found
  // The values are optimal, or nothing is better than the start; without either there is none.
  bool proven = false;
  // No solution has a smaller objective.
  double bound = -std::numeric_limits<double>::infinity();
};

// When it ends before its time, the result depends on program, start and priorities alone: of
// several optima any, the same in each call.
IntegerSolution solve_integer(const LinearProgram& program, const IntegerSearch& search);

}  // namespace strato
