#include "plugins/planners/baselines/heft.h"

#include <gtest/gtest.h>

#include "tests/core/schedule/schedule_check.h"
#include "tests/plugins/planners/list_toy.h"

namespace strato {
namespace {

Schedule run(const toy::Case& of, double memory = 1) {
  return heft::schedule(of.dag, of.transfers, *of.cluster, memory);
}

TEST(Heft, small_dags_are_valid_and_never_better_than_the_best) {
  Random random(7);
  for (int round = 0; round < 150; ++round) {
    const auto cluster = toy::small_cluster(2, round % 2);
    const toy::Case of(
        toy::random_dag({.nodes = 2 + round % 4}, cluster->gpu_types().size(), random), cluster);
    const Schedule schedule = run(of);
    EXPECT_EQ(of.problem_with(schedule), "") << round;
    EXPECT_GE(schedule.makespan, toy::Optimum(of, false).makespan()) << round;
    EXPECT_TRUE(toy::are_equal(schedule, run(of)));
  }
}

// Independent nodes: the first device that is idle, so at most 2 - 1/n of the optimum (Graham).
TEST(Heft, independent_nodes_are_balanced) {
  Random random(9);
  for (int round = 0; round < 60; ++round) {
    const auto cluster = toy::small_cluster(3, 0);
    const toy::Case of(toy::random_dag({.nodes = 5, .edges_percent = 0}, 1, random), cluster);
    EXPECT_LE(3 * run(of).makespan, 5 * toy::Optimum(of, true).makespan()) << round;
  }
}

TEST(Heft, idle_time_is_used) {
  // 0 (1 ns) -> 1 (9 ns) on another device would cost 20: both on one, and 2 (independent) beside.
  DagBuilder builder(1);
  const Nanos short_time[] = {Nanos(1)}, long_time[] = {Nanos(9)};
  builder.add_node(short_time, Bytes(0));
  builder.add_node(long_time, Bytes(0));
  builder.add_node(long_time, Bytes(0));
  builder.add_edge(0, 1, Bytes(20));
  const toy::Case of(std::move(builder), toy::small_cluster(2, 0));
  EXPECT_EQ(run(of).makespan, Nanos(10));
}

TEST(Heft, memory_and_co_location_are_kept_to) {
  Random random(11);
  for (int round = 0; round < 100; ++round) {
    const auto cluster = toy::small_cluster(2, 2);
    const toy::Case of(toy::random_dag({.nodes = 12, .gigabytes_to = 9, .colocated_percent = 40},
                                       cluster->gpu_types().size(), random),
                       cluster);
    EXPECT_EQ(of.problem_with(run(of)), "") << round;
    EXPECT_EQ(of.problem_with(run(of, 0.3)), "") << round;
  }
}

TEST(Heft, what_fits_nowhere_is_placed_all_the_same) {
  for (const std::int32_t group : {-1, 0}) {
    const toy::Case of(toy::scattered_dag(5, 1, Bytes(std::int64_t{40} << 30), group),
                       toy::small_cluster(2, 0));
    const Schedule schedule = run(of);
    EXPECT_EQ(of.problem_with(schedule), "");
    EXPECT_FALSE(schedule.fits);
  }
}

TEST(Heft, edges_of_what_can_be_given) {
  for (const int devices : {1, 4}) {
    const auto cluster = toy::small_cluster(devices, 0);
    for (const auto& builder :
         {toy::chain_dag(1, 5, 0), toy::chain_dag(100'000, 3, 7), toy::star_dag(100'000, 3, 7),
          toy::scattered_dag(1000, 0, Bytes(0)), toy::scattered_dag(0, 0, Bytes(0))}) {
      const toy::Case of(builder, cluster);
      const Schedule schedule = run(of);
      EXPECT_EQ(of.problem_with(schedule), "");
    }
  }
  const toy::Case chain(toy::chain_dag(100'000, 3, 7), toy::small_cluster(4, 0));
  EXPECT_EQ(run(chain).makespan, Nanos(300'000));
}

TEST(Heft, steps_tell_ranks_and_candidates) {
  const toy::Case of(toy::star_dag(3, 2, 5), toy::small_cluster(2, 0));
  PlanningSteps steps;
  const Schedule schedule = heft::schedule(of.dag, of.transfers, *of.cluster, 1, &steps);
  ASSERT_EQ(steps.steps.size(), of.dag.size());
  EXPECT_EQ(steps.ranking.order.size(), of.dag.size());
  EXPECT_EQ(steps.ranking.value[4], Nanos(2));
  EXPECT_EQ(steps.ranking.value[0], Nanos(2 + 5 + 2 + 5 + 2));
  for (const auto& step : steps.steps) {
    EXPECT_EQ(step.device, schedule.device[static_cast<std::size_t>(step.node)]);
    EXPECT_EQ(step.start, schedule.start[static_cast<std::size_t>(step.node)]);
    EXPECT_EQ(step.finish, schedule.finish[static_cast<std::size_t>(step.node)]);
    ASSERT_EQ(step.candidates.size(), 2U);
    for (const auto& candidate : step.candidates) EXPECT_GE(candidate.finish, step.finish);
  }
}

}  // namespace
}  // namespace strato
