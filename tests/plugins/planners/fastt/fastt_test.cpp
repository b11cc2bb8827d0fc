// fastt as it is shipped: on toy problems with known answers, awkward ones and sample models; the
// graph that it schedules, its splits and what they become.
#include "plugins/planners/list/fastt/fastt.h"

#include <gtest/gtest.h>

#include <numeric>

#include "core/base/error.h"
#include "core/graph/build/graph_builder.h"
#include "core/schedule/dag/transfer_times.h"
#include "core/schedule/list/steps.h"
#include "core/search/evaluate/outcome.h"
#include "core/search/run/run_planner.h"
#include "tests/core/schedule/dag_now.h"
#include "tests/core/schedule/schedule_check.h"
#include "tests/plugins/shipped.h"

namespace strato {
namespace {

using namespace fastt;

PlanResult plan(const Problem& problem, std::map<std::string, std::string> set = {}) {
  PlannerOptions options;
  options.set = std::move(set);
  options.floor = false;
  options.record_steps = true;
  options.threads = 1;
  Observer quiet;
  return run_planner(*registry().planner("fastt"), problem, options, quiet, {});
}

// Complete, valid, and simulated as it says.
void expect_sound(const Problem& problem, const PlanResult& result) {
  const Problem own = problem_for(problem, result.strategy);
  ASSERT_TRUE(result.strategy.is_complete());
  validate(result.strategy, *own.grouping, *own.cluster);
  const Score score = simulate_strategy(problem, result.strategy).score;
  EXPECT_EQ(score.step_time, result.score.step_time);
  EXPECT_EQ(score.feasible, result.score.feasible);
  ASSERT_NE(result.steps, nullptr);
  EXPECT_EQ(result.steps->steps.size(), result.steps->nodes.size());
  EXPECT_EQ(result.steps->ranking.order.size(), result.steps->nodes.size());
  EXPECT_GE(result.facts.size(), 5U);
}

Problem trained_chain(std::shared_ptr<const Cluster> cluster, int layers, std::int64_t batch,
                      std::int64_t width = 256) {
  return make_problem(toy::chain(layers, batch, width), std::move(cluster), {});
}

// The schedule is valid for the graph as it is now.
void expect_valid(const Problem& problem, const Plan& plan) {
  const Dag dag = dag_now(*plan.dpos, *problem.cluster);
  EXPECT_EQ(problem_with(schedule_now(*plan.dpos, *problem.cluster), dag,
                         TransferTimes(dag, *problem.cluster, *problem.cost), *problem.cluster),
            "");
}

TEST(FastT, the_data_parallel_graph_has_every_sample_once) {
  const Problem problem = trained_chain(toy::small_cluster(4, 0), 3, 10);
  const ReplicaGraph graph = replica_graph(problem, 4);
  EXPECT_EQ(graph.samples, (std::vector<std::int64_t>{3, 3, 2, 2}));
  std::size_t sums = 0, variables = 0;
  for (const NodeInfo& node : graph.nodes) {
    sums += node.role == Role::Sum;
    variables += node.role == Role::Variable;
  }
  EXPECT_EQ(variables, 3U);
  EXPECT_GE(sums, 3U);  // of every weight's gradient
  for (std::size_t i = 0; i < problem.graph->op_count(); ++i) {
    std::int64_t samples = 0;
    for (const NodeIndex node : graph.of_op[OpId(i)])
      samples += graph.nodes[static_cast<std::size_t>(node)].samples;
    const Role role = graph.nodes[static_cast<std::size_t>(graph.of_op[OpId(i)][0])].role;
    if (role == Role::Replica) {
      EXPECT_EQ(samples, 10);
    }
    if (problem.graph->op(OpId(i)).phase == Phase::Update) {
      EXPECT_EQ(role, Role::Single);
    }
  }
}

TEST(FastT, one_replica_is_the_model) {
  const Problem problem = trained_chain(toy::small_cluster(2, 0), 3, 8);
  const ReplicaGraph graph = replica_graph(problem, 1);
  EXPECT_EQ(graph.nodes.size(), problem.graph->op_count() + 3);  // and the variables
  for (const auto& nodes : graph.of_op) EXPECT_EQ(nodes.size(), 1U);
}

TEST(FastT, no_more_replicas_than_samples) {
  const Problem problem = trained_chain(toy::small_cluster(8, 0), 2, 3);
  EXPECT_EQ(replica_graph(problem, 8).replicas(), 3U);
  expect_sound(problem, plan(problem));
}

// Every op with every axis and number of parts: the schedule stays valid, what is taken is what was
// tried, samples stay whole, and the strategy can be simulated.
TEST(FastT, splits_keep_schedules_valid) {
  const Problem problem = trained_chain(toy::small_cluster(3, 1), 3, 12);
  for (const std::size_t replicas : {1, 4}) {
    Plan made = make_plan(problem, replicas, {});
    int taken = 0;
    for (std::size_t i = 0; i < problem.graph->op_count(); ++i) {
      const OpId op(i);
      const NodeIndex node = made.graph.of_op[op][0];
      std::optional<Split> split;
      const auto axes = problem.graph->op(op).phase == Phase::Update
                            ? std::vector<SplitAxis>{}
                            : split_axes(*problem.graph, op);
      if (i % 2 == 0 && splits_along_batch(*problem.graph, op)) {
        split = split_batch(problem, made.graph.nodes, *made.dpos, node, 3);
      } else if (!axes.empty()) {
        split = split_axis(problem, made.graph.nodes, *made.dpos, made.graph.of_op[op], axes[0], 2);
      }
      if (!split) continue;
      const Dpos::EditedSchedule trial = made.dpos->trial(split->edit);
      made.dpos->take(split->edit);
      EXPECT_EQ(made.dpos->makespan(), trial.makespan);
      for (const NodeIndex gone : split->edit.removed) std::erase(made.graph.of_op[op], gone);
      for (const NodeInfo& info : split->added) {
        if (info.role == Role::Part || info.role == Role::Slice)
          made.graph.of_op[op].push_back(static_cast<NodeIndex>(made.graph.nodes.size()));
        made.graph.nodes.push_back(info);
      }
      if (split->axis != kBatchAxis) made.split_axis[op] = split->axis;
      expect_valid(problem, made);
      ++taken;
    }
    EXPECT_GT(taken, 5);
    for (const Sync sync : {Sync::Variable, Sync::Servers, Sync::AllReduce}) {
      const Strategy strategy = strategy_of(problem, made, {sync, true, Bytes()});
      const Problem own = problem_for(problem, strategy);
      validate(strategy, *own.grouping, *own.cluster);
      EXPECT_GT(simulate_strategy(problem, strategy).score.step_time, Nanos());
    }
  }
}

// Algorithm 2 only takes what finishes sooner, and stops at the first op that does not.
TEST(FastT, os_dpos_gets_better_with_every_split) {
  const Problem problem = trained_chain(toy::small_cluster(4, 0), 4, 16384, 4096);
  Plan made = make_plan(problem, 1, {});
  Nanos before = made.dpos->makespan();
  const int taken = os_dpos(problem, made, {}, {});
  EXPECT_GT(taken, 0);
  EXPECT_LE(static_cast<int>(made.trials.size()), taken + 1);
  for (const PlanningSteps::Trial& trial : made.trials) {
    EXPECT_EQ(trial.taken, trial.makespan < before);
    if (trial.taken) before = trial.makespan;
  }
  EXPECT_EQ(made.dpos->makespan(), before);
  expect_valid(problem, made);
}

TEST(FastT, the_bound_is_what_it_says) {
  const Problem problem = trained_chain(toy::small_cluster(4, 0), 4, 64);
  const Plan made = make_plan(problem, 4, {});
  const Bound bound = bound_of(*made.dpos);
  EXPECT_EQ(bound.finish, made.dpos->makespan());
  EXPECT_LE(bound.least, bound.finish);
  EXPECT_GE(bound.ratio(), 1.0);
  EXPECT_LE(bound.finish, 2 * bound.finish + bound.longest_transfers);
}

TEST(FastT, plans_sound_strategies_in_every_variant) {
  const Problem problem = trained_chain(toy::small_cluster(2, 2), 4, 32);
  for (const auto& set : std::vector<std::map<std::string, std::string>>{
           {},
           {{"variant", "paper"}},
           {{"variant", "paper"}, {"split", "false"}},
           {{"sync", "ps"}},
           {{"sync", "allreduce"}, {"order", "off"}},
           {{"graph", "model"}},
           {{"graph", "data-parallel"}, {"axes", "false"}}})
    expect_sound(problem, plan(problem, set));
}

TEST(FastT, is_the_same_again) {
  const Problem problem = trained_chain(toy::small_cluster(3, 1), 5, 16);
  const PlanResult first = plan(problem), second = plan(problem);
  EXPECT_EQ(first.strategy.digest(), second.strategy.digest());
  EXPECT_EQ(first.score.step_time, second.score.step_time);
}

TEST(FastT, is_not_below_the_floor) {
  const Problem problem = trained_chain(toy::small_cluster(2, 2), 4, 32);
  PlannerOptions options;
  Observer quiet;
  const PlanResult result = run_planner(*registry().planner("fastt"), problem, options, quiet, {});
  const PlanResult parallel =
      run_planner(*registry().planner("dp-allreduce"), problem, options, quiet, {});
  EXPECT_FALSE(parallel.score.better_than(result.score));
}

TEST(FastT, one_device_and_one_op) {
  expect_sound(trained_chain(toy::small_cluster(1, 0), 3, 8),
               plan(trained_chain(toy::small_cluster(1, 0), 3, 8)));
  GraphBuilder builder("one", 4);
  const TensorId x = builder.add_tensor({.name = "x",
                                         .role = TensorRole::Input,
                                         .shape = {4, 8},
                                         .producer = {},
                                         .batch = {},
                                         .data = {}});
  const TensorId y =
      builder.add_tensor({.name = "y", .shape = {4, 8}, .producer = {}, .batch = {}, .data = {}});
  Op relu;
  relu.name = "relu";
  relu.type = "Relu";
  relu.inputs = {x};
  relu.outputs = {y};
  builder.add_op(relu);
  ProblemOptions options;
  options.training = false;
  const Problem one = make_problem(std::move(builder).build(), toy::small_cluster(2, 0), options);
  expect_sound(one, plan(one));
}

// Nothing fits anywhere: still a complete strategy, which says so.
TEST(FastT, a_model_that_fits_no_device) {
  const Problem problem = trained_chain(toy::small_cluster(2, 1), 2, 2, 100'000);
  const PlanResult result = plan(problem);
  expect_sound(problem, result);
  EXPECT_FALSE(result.score.feasible);
}

TEST(FastT, stops_when_it_is_asked_to) {
  const Problem problem = trained_chain(toy::small_cluster(2, 2), 4, 32);
  PlannerOptions options;
  options.floor = false;
  Observer quiet;
  std::stop_source stop;
  stop.request_stop();
  const PlanResult result =
      run_planner(*registry().planner("fastt"), problem, options, quiet, stop.get_token());
  EXPECT_TRUE(result.strategy.is_complete());
}

TEST(FastT, refuses_options_that_it_does_not_have) {
  const Problem problem = trained_chain(toy::small_cluster(2, 0), 2, 8);
  EXPECT_THROW(plan(problem, {{"sync", "often"}}), InputError);
  EXPECT_THROW(plan(problem, {{"patience", "much"}}), InputError);
  EXPECT_THROW(plan(problem, {{"patience", "-1"}}), InputError);
  EXPECT_THROW(plan(problem, {{"speed", "9"}}), InputError);
}

TEST(FastT, a_sample_model) {
  const Problem problem = sample("lenet", 256, "fastt-8xv100");
  expect_sound(problem, plan(problem));
  expect_sound(problem, plan(problem, {{"variant", "paper"}}));
}

}  // namespace
}  // namespace strato
