// The refiner as it is shipped: dp-allreduce+sfb and its like, loaded by name.
#include <gtest/gtest.h>

#include <chrono>

#include "core/base/error.h"
#include "core/program/sfb/sfb.h"
#include "core/search/evaluate/baselines.h"
#include "core/search/evaluate/outcome.h"
#include "core/search/run/run_planner.h"
#include "tests/paths.h"
#include "tests/plugins/shipped.h"

namespace strato {
namespace {

PlanResult plan(const std::string& planner, const Problem& problem,
                std::map<std::string, std::string> set = {}, std::stop_token stop = {}) {
  PlannerOptions options;
  options.iterations = 30;
  options.set = std::move(set);
  Observer quiet;
  return run_planner(*registry().planner(planner), problem, options, quiet, std::move(stop));
}

const Problem& wide_products() {  // 16 MiB of weights a layer, 4 samples
  static const Problem problem =
      make_problem(toy::chain(4, 4, 2048), toy::sample_cluster("tag-2x1080ti"), {});
  return problem;
}

TEST(SfbRefiner, is_listed_and_takes_a_planners_name) {
  const auto refiners = registry().list(PluginKind::Refiner);
  ASSERT_FALSE(refiners.empty());
  EXPECT_EQ(registry().planner("dp-allreduce+sfb")->name(), "dp-allreduce+sfb");
}

TEST(SfbRefiner, wide_layers_and_few_samples_are_faster_with_it) {
  for (const std::string check : {"simulated", "model"}) {
    for (const std::string planner : {"dp-allreduce", "dp-ps", "mcts"}) {
      const PlanResult before = plan(planner, wide_products());
      const PlanResult after = plan(planner + "+sfb", wide_products(), {{"sfb-check", check}});
      if (planner != "mcts") {
        EXPECT_LT(after.score.step_time, before.score.step_time) << planner << " " << check;
        EXPECT_FALSE(after.strategy.duplicated.empty());
      } else {
        EXPECT_LE(after.score.step_time, before.score.step_time);
      }
      EXPECT_NO_THROW(
          validate(after.strategy, *wide_products().grouping, *wide_products().cluster));
      EXPECT_EQ(simulate_strategy(wide_products(), after.strategy).score.step_time,
                after.score.step_time);
      EXPECT_NE(after.note.find("SFB: "), std::string::npos) << after.note;
    }
  }
}

TEST(SfbRefiner, a_plan_with_groups_of_its_own_is_refined_in_them) {
  const std::string build = kBuildFolder;
  const PluginRegistry with_tests({build + "/plugins", build + "/test_plugins"});
  ProblemOptions problem_options;
  problem_options.grouping.max_groups = 2;
  const Problem problem =
      make_problem(toy::chain(4, 4, 2048), toy::sample_cluster("tag-2x1080ti"), problem_options);
  PlannerOptions options;
  options.set = {{"stretches", "2"}};
  Observer quiet;
  const PlanResult planned =
      run_planner(*with_tests.planner("op-by-op"), problem, options, quiet, {});
  ASSERT_NE(planned.strategy.grouping, nullptr);
  const PlanResult refined =
      run_planner(*with_tests.planner("op-by-op+sfb"), problem, options, quiet, {});
  EXPECT_LE(refined.score.step_time, planned.score.step_time);
  EXPECT_EQ(refined.note.find("no gradient has to be synchronised"), std::string::npos)
      << refined.note;
  ASSERT_NE(refined.strategy.grouping, nullptr);
  EXPECT_EQ(refined.strategy.grouping->digest(), planned.strategy.grouping->digest());
  EXPECT_EQ(simulate_strategy(problem, refined.strategy).score.step_time, refined.score.step_time);
}

TEST(SfbRefiner, many_samples_leave_the_plan_as_it_is) {
  const Problem problem =
      make_problem(toy::chain(3, 8192, 64), toy::sample_cluster("tag-2x1080ti"), {});
  const PlanResult before = plan("dp-allreduce", problem);
  const PlanResult after = plan("dp-allreduce+sfb", problem, {{"sfb-check", "model"}});
  EXPECT_EQ(after.strategy, before.strategy);
  EXPECT_EQ(after.score.step_time, before.score.step_time);
}

TEST(SfbRefiner, one_device_or_no_gradient) {
  const PlanResult alone = plan("single-device+sfb", wide_products());
  EXPECT_TRUE(alone.strategy.duplicated.empty());
  EXPECT_NE(alone.note.find("no gradient"), std::string::npos) << alone.note;
  const Problem forward = toy::chain_problem(toy::small_cluster(2, 0), 3);
  EXPECT_TRUE(plan("dp-allreduce+sfb", forward).strategy.duplicated.empty());
}

TEST(SfbRefiner, the_result_depends_on_nothing_but_the_problem) {
  const Problem problem = sample("alexnet", 4, "tag-2x1080ti");
  const PlanResult once = plan("dp-allreduce+sfb", problem);
  const PlanResult again = plan("dp-allreduce+sfb", problem, {{"sfb-time", "0.000001"}});
  EXPECT_EQ(once.strategy, again.strategy);
  EXPECT_LT(once.score.step_time, plan("dp-allreduce", problem).score.step_time);
}

TEST(SfbRefiner, stops_with_a_valid_plan) {
  std::stop_source stop;
  stop.request_stop();
  const PlanResult result = plan("dp-allreduce+sfb", wide_products(), {}, stop.get_token());
  EXPECT_TRUE(result.strategy.is_complete());
  EXPECT_EQ(result.score.step_time, plan("dp-allreduce", wide_products()).score.step_time);
}

TEST(SfbRefiner, bad_options_are_named) {
  for (const auto& [key, value] : std::map<std::string, std::string>{
           {"sfb-check", "twice"}, {"sfb-time", "0"}, {"sfb-time", "soon"}, {"sfb-tme", "1"}}) {
    EXPECT_THROW(plan("dp-allreduce+sfb", wide_products(), {{key, value}}), InputError) << key;
  }
}

}  // namespace
}  // namespace strato
