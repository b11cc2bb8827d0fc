// The integer program against all schedules of small dags.
#include <gtest/gtest.h>

#include "core/schedule/dag/transfer_times.h"
#include "plugins/planners/search/exact/exact.h"
#include "plugins/planners/search/exact/formulation.h"
#include "tests/core/schedule/schedule_check.h"
#include "tests/plugins/planners/exact/kit.h"

namespace strato::exact {
namespace {

constexpr double kSeconds = 60;

void expect_optimal(std::shared_ptr<const Cluster> devices, const DagOptions& options,
                    std::uint64_t seed, int dags) {
  const Ground ground(std::move(devices));
  Random random(seed);
  int full = 0;
  for (int k = 0; k < dags; ++k) {
    SCOPED_TRACE(k);
    const Dag dag = random_dag(random, ground.cluster(), options);
    const TransferTimes transfers(dag, ground.cluster(), *ground.problem.cost);
    const std::optional<Nanos> shortest = BruteForce(dag, transfers, ground.cluster()).shortest();
    const Solution solution = solve({dag, transfers, ground.cluster()}, kSeconds);
    EXPECT_EQ(problem_with(solution.schedule, dag, transfers, ground.cluster()), "");
    ASSERT_TRUE(solution.proven);
    ASSERT_EQ(solution.schedule.fits, shortest.has_value());
    if (!shortest) {
      ++full;
      continue;
    }
    EXPECT_EQ(solution.schedule.makespan, *shortest);
    EXPECT_EQ(solution.bound, *shortest);
    EXPECT_GE(solution.first_makespan, *shortest);
  }
  if (options.most_memory > 20'000) {
    EXPECT_GT(full, 0) << "too little memory is tested, too";
  }
}

TEST(ExactSolve, is_the_optimum_on_equal_devices) {
  expect_optimal(toy::small_cluster(2, 0), {}, 1, 40);
}

TEST(ExactSolve, is_the_optimum_on_unequal_devices) {
  expect_optimal(toy::small_cluster(1, 1), {}, 2, 40);
}

TEST(ExactSolve, is_the_optimum_with_memory_limits) {
  expect_optimal(toy::small_cluster(1, 1), {.most_memory = 15'000}, 3, 40);
  expect_optimal(toy::small_cluster(2, 0), {.most_memory = 38'000}, 4, 40);
}

TEST(ExactSolve, is_the_optimum_with_colocation) {
  expect_optimal(toy::small_cluster(1, 1), {.most_memory = 15'000, .colocate = true}, 5, 40);
}

TEST(ExactSolve, is_the_optimum_of_independent_nodes) {
  expect_optimal(toy::small_cluster(2, 0), {.most_nodes = 6, .edge_chance = 0}, 6, 20);
}

TEST(ExactSolve, is_the_optimum_on_three_devices) {
  expect_optimal(toy::small_cluster(2, 1), {.edge_chance = 0.25}, 7, 20);
}

// Whatever is a schedule is a solution of the program, and back.
TEST(ExactFormulation, schedules_are_its_solutions) {
  const Ground ground(toy::small_cluster(3, 2));
  Random random(8);
  for (int k = 0; k < 40; ++k) {
    const Dag dag =
        random_dag(random, ground.cluster(), {.most_nodes = 20, .colocate = k % 2 == 0});
    const TransferTimes transfers(dag, ground.cluster(), *ground.problem.cost);
    const Schedule schedule = best_list_schedule({dag, transfers, ground.cluster()}, {});
    EXPECT_EQ(problem_with(schedule, dag, transfers, ground.cluster()), "");
    const Formulation formulation({dag, transfers, ground.cluster()}, schedule.makespan);
    const LinearProgram& program = formulation.program();
    const std::vector<double> solution = formulation.solution_of(schedule);
    for (std::size_t c = 0; c < solution.size(); ++c) {
      EXPECT_GE(solution[c], program.lower[c] - 1e-6);
      EXPECT_LE(solution[c], program.upper[c] + 1e-6);
    }
    for (const LinearProgram::Constraint& row : program.constraints) {
      double sum = 0;
      for (const auto& [column, factor] : row.terms)
        sum += factor * solution[static_cast<std::size_t>(column)];
      EXPECT_GE(sum, row.least - 1e-6);
      EXPECT_LE(sum, row.most + 1e-6);
    }
    const Formulation::Choice choice = formulation.choice_of(solution);
    std::vector<std::int64_t> place(dag.size());
    for (std::size_t at = 0; at < dag.size(); ++at)
      place[static_cast<std::size_t>(choice.order[at])] = static_cast<std::int64_t>(at);
    EXPECT_LE(schedule_in_order({dag, transfers, ground.cluster()}, choice.device,
                                topological_by(dag, place))
                  .makespan,
              schedule.makespan);
  }
}

TEST(ExactFormulation, equal_devices) {
  const auto sizes = [](const Cluster& cluster) {
    std::vector<std::size_t> result;
    for (const auto& members : equal_devices(cluster)) result.push_back(members.size());
    return result;
  };
  EXPECT_EQ(sizes(*toy::small_cluster(3, 2)), (std::vector<std::size_t>{3, 2}));
  EXPECT_EQ(sizes(*toy::sample_cluster("fastt-2x8xv100")), (std::vector<std::size_t>{8, 8}));
}

TEST(ExactSolve, larger_dags_have_valid_schedules_and_bounds_that_repeat) {
  const Ground ground(toy::small_cluster(2, 1));
  Random random(9);
  for (int k = 0; k < 4; ++k) {
    const Dag dag = random_dag(random, ground.cluster(), {.most_nodes = 30, .most_memory = 2'000});
    const TransferTimes transfers(dag, ground.cluster(), *ground.problem.cost);
    const Solution solution = solve({dag, transfers, ground.cluster()}, 2);
    EXPECT_EQ(problem_with(solution.schedule, dag, transfers, ground.cluster()), "");
    EXPECT_TRUE(solution.schedule.fits);
    EXPECT_GT(solution.bound, Nanos());
    EXPECT_LE(solution.bound, solution.schedule.makespan);
    EXPECT_LE(solution.schedule.makespan, solution.first_makespan);
    if (!solution.proven) continue;
    EXPECT_EQ(solution.bound, solution.schedule.makespan);
  }
}

TEST(ExactSolve, stops_when_asked_and_without_time) {
  const Ground ground(toy::small_cluster(4, 4));
  Random random(10);
  const Dag dag = random_dag(random, ground.cluster(), {.most_nodes = 40, .edge_chance = 0.1});
  const TransferTimes transfers(dag, ground.cluster(), *ground.problem.cost);
  std::stop_source stop;
  stop.request_stop();
  for (const Solution& solution : {solve({dag, transfers, ground.cluster()}, 600, stop.get_token()),
                                   solve({dag, transfers, ground.cluster()}, 0)}) {
    EXPECT_EQ(problem_with(solution.schedule, dag, transfers, ground.cluster()), "");
    EXPECT_LE(solution.bound, solution.schedule.makespan);
  }
}

}  // namespace
}  // namespace strato::exact
