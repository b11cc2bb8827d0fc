// The planner as it is shipped.
#include <gtest/gtest.h>

#include <filesystem>

#include "core/base/error.h"
#include "core/io/file.h"
#include "core/search/evaluate/lower_bound.h"
#include "core/search/evaluate/outcome.h"
#include "core/search/run/run_planner.h"
#include "core/search/tree/search_tree.h"
#include "tests/plugins/planners/learned/tag/kit.h"

namespace strato::tag {
namespace {

class Planning : public testing::Test {
 protected:
  void SetUp() override {
    weights_ = std::filesystem::path(testing::TempDir()) /
               ("tag_planner_" +
                std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
    Network::make({.width = 16, .layers = 2, .heads = 2}, 1).save(weights_, "{}");
  }
  void TearDown() override { std::filesystem::remove(weights_); }

  PlannerOptions options(std::map<std::string, std::string> set = {}) const {
    PlannerOptions options;
    options.iterations = 96;
    options.set = std::move(set);
    options.set.emplace("weights", weights_.string());
    return options;
  }
  static PlanResult plan(const Problem& problem, const PlannerOptions& options,
                         std::shared_ptr<const SearchTree> resume = nullptr) {
    Observer quiet;
    return run_planner(*registry().planner("tag"), problem, options, quiet, {}, std::move(resume));
  }
  std::filesystem::path weights_;
};

TEST_F(Planning, makes_complete_strategies_and_keeps_the_network_s_priors) {
  const Problem problem = toy::chain_problem(toy::small_cluster(2, 2), 4);
  const PlanResult result = plan(problem, options({{"polish", "0"}}));
  EXPECT_TRUE(result.strategy.is_complete());
  EXPECT_NO_THROW(validate(result.strategy, *problem.grouping, *problem.cluster));
  ASSERT_NE(result.tree, nullptr);
  EXPECT_FALSE(result.tree->priors.empty());
  EXPECT_EQ(result.tree->vertices.front().prior_row, 0);
  EXPECT_EQ(simulate_strategy(problem, result.strategy).score.step_time, result.score.step_time);
  EXPECT_GE(result.score.step_time, lower_bound(problem));
}

TEST_F(Planning, is_the_same_for_any_number_of_threads) {
  const Problem problem = toy::chain_problem(toy::small_cluster(4, 2), 6);
  PlannerOptions one = options(), four = options();
  one.threads = 1;
  four.threads = 4;
  const PlanResult a = plan(problem, one), b = plan(problem, four);
  EXPECT_EQ(a.strategy, b.strategy);
  EXPECT_TRUE(serialise(*a.tree) == serialise(*b.tree));
}

TEST_F(Planning, goes_on_as_if_it_had_not_stopped) {
  const Problem problem = toy::chain_problem(toy::small_cluster(4, 2), 6);
  PlannerOptions half = options();
  half.iterations = 48;
  const PlanResult whole = plan(problem, options());
  const PlanResult first = plan(problem, half);
  const PlanResult second = plan(problem, half, first.tree);
  EXPECT_EQ(second.strategy, whole.strategy);
  EXPECT_TRUE(serialise(*second.tree) == serialise(*whole.tree));
}

TEST_F(Planning, one_device_and_one_group) {
  const PlanResult alone = plan(toy::chain_problem(toy::small_cluster(1, 0), 3), options());
  EXPECT_TRUE(alone.strategy.is_complete());
  const PlanResult single = plan(toy::chain_problem(toy::small_cluster(2, 2), 1), options());
  EXPECT_TRUE(single.strategy.is_complete());
}

TEST_F(Planning, variant_paper_and_uniform_prior) {
  const Problem problem = toy::chain_problem(toy::small_cluster(2, 2), 3);
  EXPECT_TRUE(plan(problem, options({{"variant", "paper"}})).strategy.is_complete());
  const PlanResult uniform = plan(problem, options({{"prior", "uniform"}}));
  EXPECT_TRUE(uniform.tree->priors.empty());
}

TEST_F(Planning, bad_options_are_named) {
  const Problem problem = toy::chain_problem(toy::small_cluster(2, 0), 2);
  EXPECT_THROW(plan(problem, options({{"mix", "2"}})), InputError);
  EXPECT_THROW(plan(problem, options({{"prior", "psychic"}})), InputError);
  EXPECT_THROW(plan(problem, options({{"weights", "/nowhere/weights.bin"}})), InputError);
  EXPECT_THROW(plan(problem, options({{"depth", "3"}})), InputError);
  write_file(weights_, Network::make({}, 1).bytes("{}").substr(0, 1000));
  EXPECT_THROW(plan(problem, options()), InputError);
}

}  // namespace
}  // namespace strato::tag
