// Where finishing (SFB) makes good what is better decided otherwise.
#include <gtest/gtest.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/search/portfolio/tree_search.h"
#include "core/search/tree/search_tree.h"
#include "tests/core/search/toy.h"

namespace strato {
namespace {

// Finished, each group that is changed makes it slower; plain, faster until half of them are.
Score deceptive(const Strategy& strategy) {
  std::int64_t changed = 0;
  for (const auto& decision : strategy.groups) changed += decision->mode == Mode::ModelParallel;
  changed = std::min(changed, static_cast<std::int64_t>(strategy.groups.size()) - changed);
  const bool plain = strategy.duplicated.empty();
  return {Nanos(plain ? 12'000 - 1'000 * changed : 10'000 + 500 * changed), true, Bytes(0),
          nullptr};
}

class UnfinishedProposerTest : public testing::Test {
 protected:
  PlanResult search(std::int64_t iterations, std::shared_ptr<const SearchTree> resume = nullptr) {
    PlannerOptions common;
    common.iterations = iterations;
    TreeSearchOptions options = TreeSearchOptions::from(common);
    options.finish_always = false;
    options.finish = [this](Strategy& strategy) {
      for (const OpGroup& group : problem_.grouping->groups())
        strategy.duplicated.push_back(group.ops.front());
      std::ranges::sort(strategy.duplicated);
    };
    toy::FakeEvaluator evaluator(*problem_.cluster, deceptive);
    Observer quiet;
    return tree_search({problem_, evaluator, common, quiet, {}, std::move(resume)}, options);
  }

  const Problem problem_ = toy::chain_problem(toy::sample_cluster("tag-testbed"), 8);
};

TEST_F(UnfinishedProposerTest, leaves_a_finished_strategy_that_no_change_makes_faster) {
  const PlanResult result = search(400);
  EXPECT_LT(result.score.step_time, Nanos(10'000));
  EXPECT_TRUE(result.strategy.duplicated.empty());
  EXPECT_EQ(deceptive(result.strategy).step_time, result.score.step_time);
}

TEST_F(UnfinishedProposerTest, goes_on_as_if_it_had_not_stopped) {
  const PlanResult whole = search(400);
  for (const std::int64_t first : {64, 80, 96, 200, 392}) {
    const PlanResult half = search(first);
    const auto stored =
        std::make_shared<const SearchTree>(parse_search_tree(serialise(*half.tree)));
    const PlanResult rest = search(400 - first, stored);
    EXPECT_EQ(rest.strategy, whole.strategy) << first;
    EXPECT_TRUE(serialise(*rest.tree) == serialise(*whole.tree)) << first;
  }
}

TEST_F(UnfinishedProposerTest, a_stored_second_search_is_none_or_whole) {
  const SearchTree whole = *search(200).tree;
  ASSERT_TRUE(whole.state.second);
  const auto go_on = [&](auto&& change) {
    SearchTree stored = whole;
    change(stored.state.second);
    return search(200, std::make_shared<const SearchTree>(stored));
  };
  using Second = std::optional<SearchState::Unfinished>;
  // A tree of before there was one.
  EXPECT_LT(go_on([](Second& second) { second.reset(); }).score.step_time, Nanos(12'000));
  EXPECT_NO_THROW(go_on([](Second&) {}));
  const auto refused = [&](auto&& change) { EXPECT_THROW(go_on(change), InputError); };
  refused([](Second& second) { second->local = {}; });
  refused([](Second& second) { second->local.steps = -1; });
  refused([](Second& second) { second->local.incumbent.assign(8, 9999); });
  refused([](Second& second) { second->local.incumbent.pop_back(); });
  refused([](Second& second) { second->local.successes.clear(); });
}

}  // namespace
}  // namespace strato
