// The integer program against brute force over all choices: Cbc and the minimum cut.
#include "core/program/sfb/sfb_problem.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <thread>

#include "core/base/random.h"

namespace strato {
namespace {

// Ops 0 (g) and 1 (l), then ops that lead to g. An op is read by some of those before it; there are
// inputs from outside; tensors may have several readers.
SfbProblem random_program(std::size_t ops, Random& random) {
  SfbProblem program;
  const auto amount = [&](int most) {
    return random.below(4) == 0
               ? 0.0
               : 1.0 + static_cast<double>(random.below(static_cast<std::uint64_t>(most)));
  };
  for (std::size_t i = 0; i < ops; ++i) program.time.push_back(amount(20));
  program.time[SfbProblem::kUpdate] = random.below(2) == 0 ? 0 : amount(5);
  for (std::size_t maker = 2; maker < ops; ++maker) {
    SfbTensor tensor{static_cast<int>(maker), amount(60), {}};
    for (std::size_t reader = 0; reader < maker; ++reader)
      if (reader != SfbProblem::kUpdate && random.below(3) == 0)
        tensor.readers.push_back(static_cast<int>(reader));
    if (tensor.readers.empty()) tensor.readers.push_back(0);
    program.tensors.push_back(tensor);
  }
  const auto outside = 1 + random.below(6);
  for (std::size_t i = 0; i < outside; ++i) {
    SfbTensor tensor{-1, amount(60), {}};
    for (std::size_t reader = 0; reader < ops; ++reader)
      if (random.below(4) == 0) tensor.readers.push_back(static_cast<int>(reader));
    if (tensor.readers.empty()) tensor.readers.push_back(static_cast<int>(ops - 1));
    program.tensors.push_back(tensor);
  }
  program.gain = 1.0 + static_cast<double>(random.below(200));
  return program;
}

SfbSolution brute_force(const SfbProblem& program) {
  const std::size_t ops = program.time.size();
  SfbSolution best;
  best.choice.assign(ops, 0);
  for (std::uint32_t bits = 0; bits < (1u << ops); ++bits) {
    SfbChoice choice(ops);
    for (std::size_t i = 0; i < ops; ++i) choice[i] = (bits >> i) & 1u;
    if (!is_feasible(program, choice)) continue;
    if (const double value = objective(program, choice); value < best.objective)
      best.objective = value, best.choice = choice;
  }
  return best;
}

std::size_t count(const SfbChoice& choice) {
  return static_cast<std::size_t>(std::count(choice.begin(), choice.end(), 1));
}

TEST(SfbProblem, cbc_and_cut_find_what_brute_force_finds) {
  Random random(7);
  int duplicated = 0, deep = 0, smaller = 0;
  for (int i = 0; i < 600; ++i) {
    const std::size_t ops = 2 + random.below(i < 500 ? 9 : 13);  // 2 to 14
    const SfbProblem program = random_program(ops, random);
    const SfbSolution best = brute_force(program);
    const SfbSolution cbc = solve_by_cbc(program, 60), cut = solve_by_cut(program);
    ASSERT_NEAR(cbc.objective, best.objective, 1e-6) << "program " << i;
    ASSERT_NEAR(cut.objective, best.objective, 1e-6) << "program " << i;
    for (const SfbSolution& solution : {cbc, cut}) {
      EXPECT_TRUE(solution.optimal);
      EXPECT_TRUE(is_feasible(program, solution.choice));
      EXPECT_NEAR(objective(program, solution.choice), solution.objective, 1e-9);
    }
    EXPECT_LE(count(cut.choice), count(cbc.choice)) << "the cut's is the smallest optimum";
    const ReducedSfbProblem reduced = reduce(program);
    const SfbSolution of_reduced = solve_by_cut(reduced.program);
    EXPECT_NEAR(of_reduced.objective, best.objective, 1e-6) << "program " << i;
    SfbChoice same(ops, 0);
    for (std::size_t k = 0; k < reduced.kept.size(); ++k)
      same[static_cast<std::size_t>(reduced.kept[k])] = of_reduced.choice[k];
    EXPECT_EQ(same, cut.choice) << "program " << i;
    smaller += reduced.kept.size() < ops;
    duplicated += count(cut.choice) > 0;
    deep += count(cut.choice) > 3;
  }
  EXPECT_GT(duplicated, 150);
  EXPECT_LT(duplicated, 550);
  EXPECT_GT(deep, 50);
  EXPECT_GT(smaller, 50);
}

// g reads x and dy, both from outside.
SfbProblem dense(double time, double x, double dy, double gain) {
  return {{time, 0}, {{-1, x, {0}}, {-1, dy, {0}}}, gain};
}

TEST(SfbProblem, nothing_is_duplicated_when_it_only_breaks_even) {
  for (const double gain : {59.0, 60.0}) {
    const SfbProblem program = dense(10, 20, 30, gain);
    EXPECT_EQ(solve_by_cut(program).choice, SfbChoice({0, 0}));
    EXPECT_EQ(solve_by_cbc(program, 60).choice, SfbChoice({0, 0}));
  }
  EXPECT_EQ(solve_by_cut(dense(10, 20, 30, 61)).choice, SfbChoice({1, 1}));
  EXPECT_EQ(solve_by_cbc(dense(10, 20, 30, 61), 60).choice, SfbChoice({1, 1}));
  EXPECT_DOUBLE_EQ(solve_by_cut(dense(10, 20, 30, 61)).objective, -1);
}

TEST(SfbProblem, a_tensor_with_two_readers_is_in_the_cut_once) {
  // g reads a and b, which both read t: 40 once, or a's and b's results for 30 each.
  const SfbProblem program = {{5, 0, 1, 1}, {{2, 30, {0}}, {3, 30, {0}}, {-1, 40, {2, 3}}}, 50};
  EXPECT_DOUBLE_EQ(solve_by_cut(program).objective, 5 + 1 + 1 + 40 - 50);
  EXPECT_DOUBLE_EQ(solve_by_cbc(program, 60).objective, 5 + 1 + 1 + 40 - 50);
}

TEST(SfbProblem, no_time_or_a_stop_leaves_everything_as_it_is) {
  const SfbProblem program = dense(1, 1, 1, 100);
  const SfbSolution none = solve_by_cbc(program, 0);
  EXPECT_FALSE(none.optimal);
  EXPECT_EQ(none.choice, SfbChoice({0, 0}));
  std::stop_source stop;
  stop.request_stop();
  EXPECT_FALSE(solve_by_cbc(program, 60, stop.get_token()).optimal);
  EXPECT_DOUBLE_EQ(solve_by_cbc(program, 60, stop.get_token()).objective, 0);
}

TEST(SfbProblem, a_short_limit_gives_a_valid_choice) {
  Random random(3);
  for (int i = 0; i < 20; ++i) {
    const SfbProblem program = random_program(60, random);
    const SfbSolution solution = solve_by_cbc(program, 1e-4);
    EXPECT_TRUE(is_feasible(program, solution.choice));
    EXPECT_LE(solution.objective, 0);
    EXPECT_GE(solution.objective, solve_by_cut(program).objective - 1e-6);
  }
}

TEST(SfbProblem, no_gain_needs_no_solver) {
  EXPECT_TRUE(solve_by_cbc(dense(1, 1, 1, 0), 0).optimal);
  EXPECT_DOUBLE_EQ(solve_by_cut(dense(1, 1, 1, 0)).objective, 0);
}

TEST(SfbProblem, many_threads_get_the_same_answers) {
  Random random(11);
  std::vector<SfbProblem> programs;
  for (int i = 0; i < 60; ++i) programs.push_back(random_program(4 + random.below(20), random));
  std::vector<SfbSolution> alone, together(programs.size());
  for (const SfbProblem& program : programs) alone.push_back(solve_by_cbc(program, 60));
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (std::size_t i = t; i < programs.size(); i += 4)
        together[i] = solve_by_cbc(programs[i], 60);
    });
  for (std::thread& thread : threads) thread.join();
  for (std::size_t i = 0; i < programs.size(); ++i) EXPECT_EQ(alone[i].choice, together[i].choice);
}

}  // namespace
}  // namespace strato
