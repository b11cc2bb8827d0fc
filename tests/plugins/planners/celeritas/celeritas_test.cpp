// celeritas and order-place as they are shipped, on awkward problems and on a sample model.
#include <gtest/gtest.h>

#include <set>

#include "core/base/error.h"
#include "core/graph/build/graph_builder.h"
#include "core/schedule/dag/fusion.h"
#include "core/schedule/list/steps.h"
#include "core/search/evaluate/outcome.h"
#include "core/search/run/run_planner.h"
#include "tests/plugins/shipped.h"

namespace strato {
namespace {

constexpr const char* kNames[] = {"celeritas", "order-place"};

PlanResult plan(const std::string& planner, const Problem& problem,
                std::map<std::string, std::string> set = {}, bool floor = false) {
  PlannerOptions options;
  options.set = std::move(set);
  options.floor = floor;
  options.record_steps = true;
  Observer quiet;
  return run_planner(*registry().planner(planner), problem, options, quiet, {});
}

// Complete, simulated as it says, and every op on one device.
void expect_sound(const Problem& problem, const PlanResult& result) {
  const Problem own = problem_for(problem, result.strategy);
  ASSERT_TRUE(result.strategy.is_complete());
  validate(result.strategy, *own.grouping, *own.cluster);
  const Score score = simulate_strategy(problem, result.strategy).score;
  EXPECT_EQ(score.step_time, result.score.step_time);
  EXPECT_EQ(score.feasible, result.score.feasible);
  for (const auto& decision : result.strategy.groups) EXPECT_EQ(decision->devices.size(), 1U);
}

void expect_replayable(const Problem& problem, const PlanResult& result) {
  ASSERT_NE(result.steps, nullptr);
  const PlanningSteps& steps = *result.steps;
  EXPECT_EQ(steps.steps.size(), steps.nodes.size());
  EXPECT_EQ(steps.names.size(), steps.nodes.size());
  const Problem own = problem_for(problem, result.strategy);
  std::size_t ops = 0;
  for (const PlanningSteps::Step& step : steps.steps) {
    for (OpId op : steps.nodes[static_cast<std::size_t>(step.node)]) {
      ++ops;
      EXPECT_EQ(result.strategy.groups[own.grouping->group_of(op)]->devices.front().device,
                step.device);
    }
  }
  EXPECT_EQ(ops, problem.graph->op_count());
}

Problem trained(const Graph& graph, std::shared_ptr<const Cluster> cluster) {
  return make_problem(graph, std::move(cluster), {});
}

TEST(Celeritas, one_device) {
  const Problem problem = trained(toy::chain(4, 32, 512), toy::small_cluster(1, 0));
  for (const char* name : kNames) {
    const PlanResult result = plan(name, problem);
    expect_sound(problem, result);
    expect_replayable(problem, result);
    EXPECT_TRUE(result.score.feasible);
  }
}

TEST(Celeritas, a_graph_of_one_op) {
  GraphBuilder builder("one", 8);
  const TensorId x = builder.add_tensor({.name = "x",
                                         .role = TensorRole::Input,
                                         .shape = {8, 4},
                                         .producer = {},
                                         .batch = {},
                                         .data = {}});
  const TensorId y =
      builder.add_tensor({.name = "y", .shape = {8, 4}, .producer = {}, .batch = {}, .data = {}});
  Op relu;
  relu.name = "relu";
  relu.type = "Relu";
  relu.inputs = {x};
  relu.outputs = {y};
  builder.add_op(relu);
  ProblemOptions options;
  options.training = false;
  const Problem problem =
      make_problem(std::move(builder).build(), toy::small_cluster(2, 1), options);
  for (const char* name : kNames) {
    const PlanResult result = plan(name, problem);
    expect_sound(problem, result);
    expect_replayable(problem, result);
  }
  EXPECT_EQ(group_by_fusion(problem, 60).size(), 1U);
}

TEST(Celeritas, a_disconnected_graph) {
  GraphBuilder builder("islands", 8);
  for (int i = 0; i < 12; ++i) {
    const std::string n = std::to_string(i);
    const TensorId x = builder.add_tensor({.name = "x" + n,
                                           .role = TensorRole::Input,
                                           .shape = {8, 64},
                                           .producer = {},
                                           .batch = {},
                                           .data = {}});
    const TensorId y = builder.add_tensor(
        {.name = "y" + n, .shape = {8, 64}, .producer = {}, .batch = {}, .data = {}});
    Op relu;
    relu.name = "relu" + n;
    relu.type = "Relu";
    relu.inputs = {x};
    relu.outputs = {y};
    builder.add_op(relu);
  }
  ProblemOptions options;
  options.training = false;
  const Problem problem =
      make_problem(std::move(builder).build(), toy::small_cluster(2, 1), options);
  for (const char* name : kNames) expect_sound(problem, plan(name, problem));
}

TEST(Celeritas, what_fits_nowhere_is_infeasible_and_says_so) {
  // Parameters of 16 GiB a layer, with gradients and Adam's state four times that.
  const Problem problem = trained(toy::chain(3, 1, 65536), toy::small_cluster(2, 0));
  for (const char* name : kNames) {
    const PlanResult result = plan(name, problem);
    expect_sound(problem, result);
    EXPECT_FALSE(result.score.feasible);
    EXPECT_GT(result.score.overflow, Bytes());
    EXPECT_NE(result.note.find("room"), std::string::npos);
  }
}

TEST(Celeritas, results_repeat_themselves_and_do_not_depend_on_threads) {
  const Problem problem = trained(toy::chain(12, 256, 2048), toy::small_cluster(2, 2));
  for (const char* name : kNames) {
    PlannerOptions options;
    Observer quiet;
    options.threads = 1;
    const PlanResult one = run_planner(*registry().planner(name), problem, options, quiet, {});
    options.threads = 3;
    const PlanResult three = run_planner(*registry().planner(name), problem, options, quiet, {});
    EXPECT_EQ(one.strategy, three.strategy);
    EXPECT_EQ(one.evaluations, three.evaluations);
  }
}

TEST(Celeritas, beyond_the_paper_is_no_worse_than_the_paper_and_than_order_place) {
  for (const int slow : {0, 2}) {
    const Problem problem = trained(toy::chain(16, 4096, 4096), toy::small_cluster(2, slow));
    const PlanResult best = plan("celeritas", problem);
    EXPECT_FALSE(plan("celeritas", problem, {{"variant", "paper"}}).score.better_than(best.score));
    EXPECT_FALSE(plan("order-place", problem).score.better_than(best.score));
    expect_sound(problem, best);
    expect_replayable(problem, best);
  }
}

TEST(Celeritas, the_papers_variant_is_one_evaluation) {
  const Problem problem = trained(toy::chain(6, 64, 1024), toy::small_cluster(2, 0));
  for (const char* name : kNames)
    EXPECT_EQ(plan(name, problem, {{"variant", "paper"}}).evaluations, 1);
}

TEST(Celeritas, options_are_checked) {
  const Problem problem = toy::chain_problem(toy::small_cluster(2, 0), 3);
  const std::vector<std::map<std::string, std::string>> bad_options = {
      {{"range", "0"}}, {{"memory", "0"}},          {{"memory", "1.5"}},
      {{"order", "x"}}, {{"cluster-memory", "-1"}}, {{"variant", "other"}}};
  for (const auto& bad : bad_options)
    for (const char* name : kNames) EXPECT_THROW(plan(name, problem, bad), InputError);
  for (const char* order : {"cpd", "dfs", "m"})
    expect_sound(problem, plan("order-place", problem, {{"order", order}, {"range", "1"}}));
}

TEST(Celeritas, fills_the_devices_of_a_model_that_fits_on_none) {
  const Problem problem = sample("inception_v3", 512, "celeritas");
  const PlanResult placed = plan("order-place", problem), adjusted = plan("celeritas", problem);
  EXPECT_TRUE(placed.score.feasible);
  EXPECT_TRUE(adjusted.score.feasible);
  EXPECT_FALSE(placed.score.better_than(adjusted.score));
  EXPECT_FALSE(plan("single-device", problem).score.feasible);
  expect_replayable(problem, adjusted);
  EXPECT_FALSE(adjusted.steps->fusion.breaks.empty());
  EXPECT_LT(adjusted.steps->fusion.ratio_after, adjusted.steps->fusion.ratio_before);
}

TEST(FusedGrouping, has_few_enough_groups_and_never_parts_a_parameter_from_its_update) {
  const Problem problem = sample("inception_v3", 32, "celeritas");
  const Graph& graph = *problem.graph;
  std::size_t last = 0;
  for (const int count : {1, 2, 7, 30, 60, 200}) {
    const Grouping grouping = group_by_fusion(problem, count);
    EXPECT_LE(grouping.size(), static_cast<std::size_t>(count));
    EXPECT_GE(grouping.size(), last);
    last = grouping.size();
    for (std::size_t t = 0; t < graph.tensor_count(); ++t) {
      const OpId update = graph.update_of(TensorId(t));
      if (!update.valid()) continue;
      for (OpId reader : graph.consumers(TensorId(t)))
        EXPECT_EQ(grouping.group_of(reader), grouping.group_of(update));
    }
  }
  EXPECT_GT(group_by_fusion(problem, 60).size(), 30U);
  EXPECT_EQ(group_by_fusion(problem, 60).digest(), group_by_fusion(problem, 60).digest());
}

TEST(FusedGrouping, other_planners_plan_in_it) {
  ProblemOptions options;
  options.grouping.max_groups = 20;
  const Problem problem = make_problem(toy::chain(12, 256, 2048), toy::small_cluster(2, 1), options,
                                       GroupingMethod::Fusion, nullptr);
  EXPECT_LE(problem.grouping->size(), 20U);
  EXPECT_GT(problem.grouping->size(), 4U);
  for (const char* name : {"metis", "dp-allreduce"}) {
    const PlanResult result = plan(name, problem);
    EXPECT_EQ(simulate_strategy(problem, result.strategy).score.step_time, result.score.step_time);
  }
}

TEST(FusedGrouping, names) {
  for (const GroupingMethod method : {GroupingMethod::Metis, GroupingMethod::Fusion})
    EXPECT_EQ(grouping_method_from(name_of(method)), method);
  EXPECT_THROW(grouping_method_from("kmeans"), InputError);
}

}  // namespace
}  // namespace strato
