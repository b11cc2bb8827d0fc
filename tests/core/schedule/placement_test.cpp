#include "core/schedule/list/placement.h"

#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/schedule/dag/levels.h"
#include "core/schedule/dag/transfer_times.h"
#include "core/search/api/evaluator.h"
#include "core/search/evaluate/outcome.h"
#include "tests/core/schedule/schedule_check.h"
#include "tests/core/search/toy.h"

namespace strato {
namespace {

Problem problem_in_groups(int groups) {
  ProblemOptions options;
  options.grouping.max_groups = groups;
  return make_problem(toy::chain(5, 16, 128), toy::small_cluster(2, 1), options);
}

// Nodes in turn on the devices, in the order of their numbers.
Schedule in_turn(const Problem& problem, const Dag& dag) {
  const TransferTimes transfers(dag, *problem.cluster, *problem.cost);
  Scheduling scheduling(dag, transfers, *problem.cluster, {});
  for (std::size_t i = 0; i < dag.size(); ++i) {
    const auto node = static_cast<NodeIndex>(i);
    const DeviceId turn(i / 3 % problem.cluster->device_count());
    scheduling.place(node, scheduling.demanded(node).value_or(turn));
  }
  Schedule schedule = std::move(scheduling).finished();
  EXPECT_EQ(problem_with(schedule, dag, transfers, *problem.cluster), "");
  return schedule;
}

TEST(StrategyOf, EveryOpIsWhereItsNodeIs) {
  const Problem problem = problem_in_groups(3);
  const Dag dag = dag_of(problem);
  const Schedule schedule = in_turn(problem, dag);
  const Strategy strategy = strategy_of(problem, schedule, {}, false);
  const Problem own = problem_for(problem, strategy);
  EXPECT_TRUE(strategy.priorities.empty());
  for (std::size_t i = 0; i < dag.size(); ++i)
    EXPECT_EQ(strategy.groups[own.grouping->group_of(OpId(i))],
              decision_on_device(schedule.device[i]));
}

TEST(StrategyOf, OrderIsThatOfTheStarts) {
  const Problem problem = problem_in_groups(3);
  const Graph& graph = *problem.graph;
  const Schedule schedule = in_turn(problem, dag_of(problem));
  const Strategy strategy = strategy_of(problem, schedule, {}, true);
  ASSERT_EQ(strategy.priorities.size(), graph.op_count());
  std::vector<char> seen(graph.op_count(), false);
  for (const std::int32_t priority : strategy.priorities)
    seen.at(static_cast<std::size_t>(priority)) = true;
  EXPECT_EQ(std::ranges::count(seen, char(true)), std::ssize(seen));  // a permutation
  for (std::size_t a = 0; a < graph.op_count(); ++a) {
    for (std::size_t b = 0; b < graph.op_count(); ++b)
      if (schedule.start[a] < schedule.start[b]) {
        EXPECT_LT(strategy.priorities[a], strategy.priorities[b]);
      }
    for (const TensorId output : graph.op(OpId(a)).outputs)  // topological
      for (const OpId reader : graph.consumers(output))
        EXPECT_LT(strategy.priorities[a], strategy.priorities[reader.index()]);
  }
}

TEST(StrategyOf, NodesThatAreClusters) {
  const Problem problem = problem_in_groups(3);
  const Dag dag = dag_of(problem);
  std::vector<std::int32_t> cluster_of(dag.size());  // pieces of the order of the ops
  for (std::size_t i = 0; i < dag.size(); ++i) cluster_of[i] = static_cast<std::int32_t>(i / 4);
  const Dag coarse = contract(dag, cluster_of);
  const Schedule schedule = in_turn(problem, coarse);
  const Strategy strategy = strategy_of(problem, schedule, cluster_of, true);
  const Problem own = problem_for(problem, strategy);
  for (std::size_t i = 0; i < dag.size(); ++i)
    EXPECT_EQ(strategy.groups[own.grouping->group_of(OpId(i))],
              decision_on_device(schedule.device[static_cast<std::size_t>(cluster_of[i])]));
}

TEST(StrategyOf, GroupsThatNobodyDividesAreTheProblems) {
  const Problem problem = problem_in_groups(3);
  const std::vector<std::int32_t> same(problem.graph->op_count(), 0);
  const Decision choice = decision_on_device(DeviceId(1));
  const Strategy strategy = strategy_by_ops(problem, same, std::span(&choice, 1));
  EXPECT_EQ(strategy.grouping, nullptr);
  EXPECT_EQ(strategy.groups.size(), problem.grouping->size());
  EXPECT_THROW(strategy_by_ops(problem, {}, std::span(&choice, 1)), InvariantError);
}

// What the simulator says of a schedule: on one device the sum of the times, and memory near what
// the nodes count.
TEST(StrategyOf, TheSimulatorAgreesOnOneDevice) {
  ProblemOptions options;
  options.optimizer = Optimizer::Adam;
  const Problem problem = make_problem(toy::chain(8, 512, 512), toy::small_cluster(1, 0), options);
  const Dag dag = dag_of(problem);
  const Schedule schedule = in_turn(problem, dag);
  const Outcome outcome = simulate_strategy(problem, strategy_of(problem, schedule, {}, true));
  EXPECT_EQ(outcome.timeline->step_time, schedule.makespan);
  const double ratio = schedule.memory[0] / outcome.timeline->devices[DeviceId(0)].peak;
  EXPECT_GT(ratio, 0.8);
  EXPECT_LT(ratio, 1.25);
}

}  // namespace
}  // namespace strato
