// A strategy that is pruned from local improvement is never better, and a search with it goes on as
// every other.
#include <gtest/gtest.h>

#include <limits>

#include "core/base/random.h"
#include "core/search/evaluate/actions.h"
#include "core/search/evaluate/simulating_evaluator.h"
#include "core/search/local/bound_use.h"
#include "core/search/portfolio/tree_search.h"
#include "core/search/tree/search_tree.h"
#include "tests/core/search/toy.h"

namespace strato {
namespace {

Problem large_problem() {
  ProblemOptions options;
  options.grouping.max_groups = 8;
  return make_problem(toy::chain({256, 4096, 512, 2048, 64, 1024, 128, 512}, 256),
                      toy::sample_cluster("tag-testbed"), options);
}

class BoundPruningTest : public testing::Test {
 protected:
  Strategy random_strategy() {
    Strategy strategy;
    for (std::size_t g = 0; g < problem_.grouping->size(); ++g)
      strategy.groups.emplace_back(actions_[random_.below(actions_.size())]);
    return strategy;
  }
  static Score taking(Nanos time) { return {time, true, Bytes(0), nullptr}; }

  const Problem problem_ = large_problem();
  const std::vector<Decision> actions_ = make_actions(problem_, {});
  Random random_{7};
  BoundPruning pruning_{problem_};
};

TEST_F(BoundPruningTest, prunes_only_what_is_no_better) {
  const auto evaluator = make_simulating_evaluator(problem_, 1);
  std::vector<Strategy> strategies;
  for (int i = 0; i < 100; ++i) strategies.push_back(random_strategy());
  const std::vector<Score> scores = evaluator->evaluate(strategies);
  int left_out = 0;
  for (std::size_t i = 0; i < 100; ++i)
    for (std::size_t other = 0; other < 100; ++other) {
      pruning_.begin_round(1);
      if (!pruning_.prunes(strategies[i], scores[other])) continue;
      ++left_out;
      EXPECT_FALSE(scores[i].better_than(scores[other])) << i << " " << other;
    }
  EXPECT_GT(left_out, 1000);
}

TEST_F(BoundPruningTest, prunes_nothing_while_nothing_fits) {
  pruning_.begin_round(8);
  EXPECT_FALSE(pruning_.prunes(random_strategy(), {Nanos(1), false, Bytes(1), nullptr}));
  EXPECT_TRUE(pruning_.prunes(random_strategy(), taking(Nanos(1))));
}

TEST_F(BoundPruningTest, looks_no_more_in_a_round_where_that_is_of_little_use) {
  const Score slow = taking(Nanos::max()), fast = taking(Nanos(1));
  const auto looks_once_more = [&](int left_out, int passed) {
    pruning_.begin_round(100);
    for (int i = 0; i < left_out; ++i) EXPECT_TRUE(pruning_.prunes(random_strategy(), fast));
    for (int i = 0; i < passed; ++i) EXPECT_FALSE(pruning_.prunes(random_strategy(), slow));
    return pruning_.prunes(random_strategy(), fast);
  };
  EXPECT_TRUE(looks_once_more(0, 2));
  EXPECT_FALSE(looks_once_more(0, 3));
  EXPECT_TRUE(looks_once_more(2, 4));
  EXPECT_FALSE(looks_once_more(2, 5));
  pruning_.begin_round(2);
  EXPECT_TRUE(pruning_.prunes(random_strategy(), fast));
  EXPECT_TRUE(pruning_.prunes(random_strategy(), fast));
  EXPECT_FALSE(pruning_.prunes(random_strategy(), fast));
}

struct PrunedRun {
  const Problem& problem;
  Evaluator& evaluator;

  PlanResult operator()(std::int64_t iterations, bool sieve,
                        std::shared_ptr<const SearchTree> resume = nullptr) {
    PlannerOptions options;
    options.iterations = iterations;
    options.set = {{"sieve", sieve ? "true" : "false"}};
    Observer quiet;
    return tree_search({problem, evaluator, options, quiet, {}, std::move(resume)},
                       TreeSearchOptions::from(options));
  }
};

TEST_F(BoundPruningTest, a_search_goes_on_as_if_it_had_not_stopped) {
  const auto evaluator = make_simulating_evaluator(problem_, 1);
  PrunedRun search{problem_, *evaluator};
  const PlanResult whole = search(400, true);
  EXPECT_FALSE(serialise(*whole.tree) == serialise(*search(400, false).tree));
  for (const std::int64_t first : {64, 200, 304, 312, 360, 392}) {
    const auto stored =
        std::make_shared<const SearchTree>(parse_search_tree(serialise(*search(first, true).tree)));
    const PlanResult rest = search(400 - first, true, stored);
    EXPECT_EQ(rest.strategy, whole.strategy) << first;
    EXPECT_TRUE(serialise(*rest.tree) == serialise(*whole.tree)) << first;
  }
}

// An evaluator that measures may find what bounds rule out.
TEST_F(BoundPruningTest, says_nothing_where_something_is_faster_than_its_bound) {
  toy::FakeEvaluator evaluator(*problem_.cluster, [](const Strategy& strategy) {
    Score score = toy::separable(strategy);
    score.step_time = Nanos(score.step_time.value / 1'000 + 1);
    return score;
  });
  PrunedRun search{problem_, evaluator};
  const PlanResult with = search(400, true), without = search(400, false);
  EXPECT_EQ(with.strategy, without.strategy);
  EXPECT_EQ(with.evaluations, without.evaluations);
}

}  // namespace
}  // namespace strato
