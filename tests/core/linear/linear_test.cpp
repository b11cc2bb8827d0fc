// Linear and mixed-integer programs with known optima.
#include <gtest/gtest.h>

#include <cmath>

#include "core/base/random.h"
#include "core/linear/solver.h"

namespace strato {
namespace {

constexpr double kFree = LinearProgram::kInfinity;

TEST(LinearProgram, terms_of_one_column_are_summed) {
  LinearProgram program;
  for (int c = 0; c < 3; ++c) program.add_column(0, 1, c);
  program.add_constraint({{2, 1}, {0, 3}, {2, 2}, {1, 5}, {1, -5}}, 0, 1);
  EXPECT_EQ(program.constraints.front().terms, (LinearProgram::Terms{{0, 3}, {2, 3}}));
  EXPECT_EQ(program.objective({7, 1, 2}), 5);
}

TEST(LinearSolver, finds_a_corner) {  // max 3x + 2y, x + y <= 4, x + 3y <= 6, x <= 3
  LinearProgram program;
  program.add_column(0, 3, -3);
  program.add_column(0, kFree, -2);
  program.add_constraint({{0, 1}, {1, 1}}, -kFree, 4);
  program.add_constraint({{0, 1}, {1, 3}}, -kFree, 6);
  const auto values = solve_linear(program, 100);
  ASSERT_TRUE(values);
  EXPECT_NEAR((*values)[0], 3, 1e-6);
  EXPECT_NEAR((*values)[1], 1, 1e-6);
}

TEST(LinearSolver, says_that_there_is_none) {
  LinearProgram program;
  program.add_column(0, 1);
  program.add_constraint({{0, 1}}, 2, kFree);
  EXPECT_FALSE(solve_linear(program, 100));
}

// Things of random worth and weight, some of which are taken.
LinearProgram knapsack(std::size_t count, Random& random) {
  LinearProgram program;
  LinearProgram::Terms weights;
  for (std::size_t i = 0; i < count; ++i) {
    const int column = program.add_column(0, 1, -1.0 - static_cast<double>(random.below(20)));
    weights.emplace_back(column, 1.0 + static_cast<double>(random.below(10)));
  }
  program.integers = program.columns();
  program.add_constraint(std::move(weights), -kFree, 15);
  return program;
}

double best_by_trying(const LinearProgram& program) {
  double best = 0;
  for (unsigned set = 0; set < 1u << program.columns(); ++set) {
    std::vector<double> values;
    for (int c = 0; c < program.columns(); ++c) values.push_back(set >> c & 1);
    double weight = 0;
    for (const auto& [column, factor] : program.constraints.front().terms)
      weight += factor * values[static_cast<std::size_t>(column)];
    if (weight <= 15) best = std::min(best, program.objective(values));
  }
  return best;
}

TEST(IntegerSolver, finds_what_trying_all_finds) {
  Random random(3);
  for (int k = 0; k < 30; ++k) {
    const LinearProgram program = knapsack(10, random);
    const double best = best_by_trying(program);
    for (const bool thorough : {false, true}) {
      IntegerSearch search;
      search.seconds = 60;
      search.thorough = thorough;
      if (k % 2 == 0) search.priorities.assign(10, 1);
      const IntegerSolution found = solve_integer(program, search);
      ASSERT_TRUE(found.proven);
      ASSERT_EQ(found.values.size(), 10u);
      for (const double value : found.values) EXPECT_NEAR(value, std::round(value), 1e-6);
      EXPECT_NEAR(program.objective(found.values), best, 1e-6);
      EXPECT_LE(found.bound, best + 1e-6);
    }
  }
}

TEST(IntegerSolver, nothing_is_better_than_an_optimal_start) {
  LinearProgram program;
  program.add_column(0, 1, 1);
  program.add_column(0, 1, 1);
  program.integers = 2;
  program.add_constraint({{0, 1}, {1, 1}}, 1, kFree);
  IntegerSearch search;
  search.thorough = true;
  search.start = {1, 0};
  const IntegerSolution found = solve_integer(program, search);
  EXPECT_TRUE(found.proven);
  if (!found.values.empty()) {
    EXPECT_NEAR(program.objective(found.values), 1, 1e-6);
  }
}

TEST(IntegerSolver, proves_that_there_is_none) {
  LinearProgram program;
  program.add_column(0, 1, 1);
  program.integers = 1;
  program.add_constraint({{0, 2}}, 3, kFree);
  IntegerSearch search;
  search.thorough = true;
  const IntegerSolution found = solve_integer(program, search);
  EXPECT_TRUE(found.proven);
  EXPECT_TRUE(found.values.empty());
}

TEST(IntegerSolver, stops_when_it_is_asked_to) {
  Random random(4);
  std::stop_source stop;
  stop.request_stop();
  IntegerSearch search;
  search.stop = stop.get_token();
  search.thorough = true;
  EXPECT_FALSE(solve_integer(knapsack(40, random), search).proven);
}

}  // namespace
}  // namespace strato
