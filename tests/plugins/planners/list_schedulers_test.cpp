// The list schedulers as planners: on sample models, with their options, and what they tell.
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/schedule/list/steps.h"
#include "core/search/evaluate/outcome.h"
#include "core/search/run/run_planner.h"
#include "tests/plugins/shipped.h"

namespace strato {
namespace {

const std::vector<std::string> kNames = {"m-topo", "m-etf", "m-sct", "heft"};

PlanResult plan(const std::string& name, const Problem& problem, const PlannerOptions& options) {
  Observer quiet;
  return run_planner(*registry().planner(name), problem, options, quiet, {});
}

TEST(ListSchedulers, strategies_are_complete_and_scored_as_simulated) {
  for (const char* cluster : {"celeritas", "tag-2x1080ti"}) {
    const Problem problem = sample("inception_v3", 32, cluster);
    for (const std::string& name : kNames) {
      const PlanResult result = plan(name, problem, {}), again = plan(name, problem, {});
      EXPECT_TRUE(result.strategy == again.strategy) << name;
      EXPECT_TRUE(result.strategy.is_complete()) << name;
      EXPECT_EQ(simulate_strategy(problem, result.strategy).score.step_time, result.score.step_time)
          << name;
      EXPECT_EQ(result.strategy.priorities.size(), problem.graph->op_count()) << name;
      EXPECT_EQ(result.steps, nullptr);
    }
  }
}

TEST(ListSchedulers, one_device_and_one_op) {
  for (const int layers : {1, 4})
    for (const std::string& name : kNames) {
      const Problem problem = toy::chain_problem(toy::small_cluster(1, 0), layers);
      EXPECT_TRUE(plan(name, problem, {}).score.feasible) << name;
    }
}

TEST(ListSchedulers, steps_are_recorded_when_asked_for) {
  const Problem problem = sample("lenet", 32, "tag-testbed");
  PlannerOptions options;
  options.record_steps = true;
  for (const std::string& name : kNames) {
    const PlanResult result = plan(name, problem, options);
    ASSERT_NE(result.steps, nullptr) << name;
    EXPECT_EQ(result.steps->steps.size(), problem.graph->op_count()) << name;
    EXPECT_EQ(result.steps->ranking.order.size(), problem.graph->op_count()) << name;
    EXPECT_TRUE(plan(name, problem, {}).strategy == result.strategy) << name;
  }
}

TEST(ListSchedulers, a_model_that_fits_nowhere_is_infeasible_with_a_result) {
  const Problem problem = sample("bert_large", 512, "tag-2x1080ti");
  for (const std::string& name : kNames) {
    const PlanResult result = plan(name, problem, {});
    EXPECT_FALSE(result.score.feasible) << name;
    EXPECT_TRUE(result.strategy.is_complete()) << name;
  }
}

TEST(ListSchedulers, options_are_read_and_checked) {
  const Problem problem = toy::chain_problem(toy::small_cluster(2, 0), 3);
  PlannerOptions options;
  options.set = {{"order", "false"}, {"variant", "paper"}};
  for (const std::string& name : kNames)
    EXPECT_TRUE(plan(name, problem, options).strategy.priorities.empty()) << name;
  options.set = {{"variant", "mine"}};
  for (const std::string& name : kNames) EXPECT_THROW(plan(name, problem, options), InputError);
  for (const char* threshold : {"0", "0.6", "nan"}) {
    options.set = {{"threshold", threshold}};
    EXPECT_THROW(plan("m-sct", problem, options), InputError) << threshold;
  }
  options.set = {{"piece", "-1"}};
  EXPECT_THROW(plan("m-sct", problem, options), InputError);
}

}  // namespace
}  // namespace strato
