// The planners as they are shipped: loaded by name, run on sample models and clusters.
#include <gtest/gtest.h>

#include <set>

#include "core/base/error.h"
#include "core/search/evaluate/baselines.h"
#include "core/search/evaluate/lower_bound.h"
#include "core/search/evaluate/outcome.h"
#include "core/search/run/run_planner.h"
#include "core/search/tree/search_tree.h"
#include "tests/plugins/shipped.h"

namespace strato {
namespace {

PlanResult plan(const std::string& planner, const Problem& problem, std::int64_t iterations = 800,
                std::uint64_t seed = 1) {
  PlannerOptions options;
  options.iterations = iterations;
  options.seed = seed;
  Observer quiet;
  return run_planner(*registry().planner(planner), problem, options, quiet, {});
}

const std::vector<std::string> kBaselines = {"dp-allreduce", "dp-allreduce-proportional", "dp-ps",
                                             "single-device", "metis"};

TEST(Planners, all_load_under_their_names_and_make_complete_strategies) {
  const Problem problem = toy::chain_problem(toy::small_cluster(2, 2), 3);
  std::vector<std::string> names = kBaselines;
  names.push_back("mcts");
  for (const std::string& name : names) {
    EXPECT_EQ(registry().planner(name)->name(), name);
    const PlanResult result = plan(name, problem, 40);
    EXPECT_TRUE(result.strategy.is_complete()) << name;
    EXPECT_NO_THROW(validate(result.strategy, *problem.grouping, *problem.cluster)) << name;
    EXPECT_EQ(simulate_strategy(problem, result.strategy).score.step_time, result.score.step_time)
        << name;
    EXPECT_GE(result.score.step_time, lower_bound(problem)) << name;
  }
}

TEST(Planners, baselines_are_what_they_are_called) {
  const Problem problem = toy::chain_problem(toy::small_cluster(2, 2), 3);
  EXPECT_EQ(plan("dp-allreduce", problem).strategy, data_parallel(problem));
  EXPECT_EQ(plan("dp-ps", problem).strategy, data_parallel(problem, Mode::ReplicatePs));
  EXPECT_EQ(plan("dp-allreduce-proportional", problem).strategy,
            data_parallel_proportional(problem));
  EXPECT_EQ(plan("single-device", problem).strategy, on_one_device(problem, DeviceId(0)));
}

TEST(Planners, metis_uses_many_devices_one_a_group) {
  const Problem problem = toy::chain_problem(toy::sample_cluster("gdp"), 24);
  std::set<DeviceId> used;
  for (const auto& decision : plan("metis", problem).strategy.groups) {
    ASSERT_EQ(decision->devices.size(), 1U);
    used.insert(decision->devices.front().device);
  }
  EXPECT_GE(used.size(), 6U);
}

TEST(Planners, metis_with_fewer_groups_than_devices_or_one) {
  for (int layers : {1, 2, 3}) {
    const Problem problem = toy::chain_problem(toy::sample_cluster("autodist-a1"), layers);
    EXPECT_TRUE(plan("metis", problem).strategy.is_complete());
  }
  EXPECT_TRUE(
      plan("metis", toy::chain_problem(toy::small_cluster(1, 0), 4)).strategy.is_complete());
}

void expect_faster_than_every_baseline(const Problem& problem, std::int64_t iterations) {
  const PlanResult searched = plan("mcts", problem, iterations);
  ASSERT_TRUE(searched.score.feasible);
  for (const std::string& name : kBaselines) {
    const Score baseline = plan(name, problem).score;
    EXPECT_TRUE(searched.score.better_than(baseline)) << name;
  }
  EXPECT_GE(searched.score.step_time, lower_bound(problem));
}

TEST(Mcts, vgg19_on_the_testbed_beats_every_baseline_and_repeats_itself) {
  const Problem problem = sample("vgg19", 96, "tag-testbed");
  expect_faster_than_every_baseline(problem, 800);
  const PlanResult once = plan("mcts", problem, 200), again = plan("mcts", problem, 200);
  EXPECT_EQ(once.strategy, again.strategy);
  EXPECT_EQ(once.note, again.note);
  EXPECT_TRUE(serialise(*once.tree) == serialise(*again.tree));
}

TEST(Mcts, bert_large_fits_where_data_parallelism_does_not) {
  const Problem problem = sample("bert_large", 16, "tag-testbed");
  EXPECT_FALSE(plan("dp-allreduce", problem).score.feasible);
  expect_faster_than_every_baseline(problem, 64);
}

TEST(Mcts, small_models_on_other_clusters) {
  for (const char* cluster : {"tag-cloud", "mixed-a100-l40s", "autodist-b11"})
    for (const char* model : {"lenet", "alexnet"}) {
      SCOPED_TRACE(std::string(model) + " on " + cluster);
      expect_faster_than_every_baseline(sample(model, 128, cluster), 800);
    }
}

TEST(Mcts, unknown_option_is_named) {
  const Problem problem = toy::chain_problem(toy::small_cluster(2, 0), 2);
  PlannerOptions options;
  options.set = {{"depth", "3"}};
  Observer quiet;
  EXPECT_THROW(run_planner(*registry().planner("mcts"), problem, options, quiet, {}), InputError);
}

}  // namespace
}  // namespace strato
