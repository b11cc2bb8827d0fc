// A search that finishes its strategies (as `tag` adds sufficient factor broadcasting) and tries
// its best ones without that, too.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/search/portfolio/tree_search.h"
#include "core/search/tree/search_tree.h"
#include "tests/core/search/toy.h"

namespace strato {
namespace {

constexpr OpId kFinished{0};

enum class Worth { Better, Worse, Depends, Nothing };

// A landscape of groups that are decided alone, in which finishing is worth something, or costs.
struct Landscape {
  Worth worth;
  Score operator()(const Strategy& strategy) const {
    Score score = toy::separable(strategy);
    if (strategy.duplicated.empty()) return score;
    const std::size_t devices = strategy.groups[GroupId(1)]->devices.size();
    const bool better = worth == Worth::Better || (worth == Worth::Depends && devices > 2);
    score.step_time += Nanos(better ? -400'000 : 400'000);
    return score;
  }
};

class FinishingRun {
 public:
  explicit FinishingRun(Worth worth) : FinishingRun(worth, Landscape{worth}) {}
  FinishingRun(Worth worth, toy::FakeEvaluator::Formula formula)
      : problem_(toy::chain_problem(toy::small_cluster(2, 2), 5)),
        evaluator_(*problem_.cluster, std::move(formula)) {
    options_.finish = [worth](Strategy& strategy) {
      if (worth != Worth::Nothing) strategy.duplicated = {kFinished};
    };
    options_.finish_always = false;
  }

  PlanResult search(std::int64_t iterations, std::shared_ptr<const SearchTree> resume = nullptr) {
    PlannerOptions common;
    common.iterations = iterations;
    Observer nobody;
    return tree_search({problem_, evaluator_, common, nobody, {}, std::move(resume)}, options_);
  }
  TreeSearchOptions& options() { return options_; }
  toy::FakeEvaluator& evaluator() { return evaluator_; }

 private:
  Problem problem_;
  toy::FakeEvaluator evaluator_;
  TreeSearchOptions options_;
};

std::shared_ptr<const SearchTree> stored(const SearchTree& tree) {
  return std::make_shared<const SearchTree>(parse_search_tree(serialise(tree)));
}

TEST(Finishing, leaves_finishing_out_where_that_is_better) {
  FinishingRun search(Worth::Worse);
  const PlanResult result = search.search(400);
  EXPECT_TRUE(result.strategy.duplicated.empty());
  EXPECT_EQ(search.evaluator().evaluate(result.strategy).step_time, result.score.step_time);
  search.options().finish_always = true;
  EXPECT_FALSE(search.search(400).strategy.duplicated.empty());
  EXPECT_LT(result.score.step_time, search.search(400).score.step_time);
}

TEST(Finishing, keeps_finishing_where_that_is_better) {
  const PlanResult result = FinishingRun(Worth::Better).search(400);
  EXPECT_FALSE(result.strategy.duplicated.empty());
}

// Plain and decided otherwise at once is best, either alone is worse than neither.
TEST(Finishing, changes_a_decision_and_leaves_its_finishing_out_at_once) {
  FinishingRun search(Worth::Better, [](const Strategy& strategy) {
    const bool plain = strategy.duplicated.empty();
    const bool other = strategy.groups[GroupId(0)]->mode == Mode::ModelParallel;
    return Score{Nanos(plain && other ? 4'000 : plain || other ? 6'000 : 5'000), true, {}, nullptr};
  });
  EXPECT_EQ(search.search(400).score.step_time, Nanos(4'000));
}

// Nothing to finish: the same search as without, evaluation by evaluation.
TEST(Finishing, costs_nothing_where_there_is_none) {
  FinishingRun search(Worth::Nothing);
  const PlanResult with = search.search(400);
  search.options().finish = nullptr;
  const PlanResult without = search.search(400);
  EXPECT_EQ(with.strategy, without.strategy);
  EXPECT_EQ(with.evaluations, without.evaluations + 1);  // data parallelism, which is the root here
  EXPECT_TRUE(serialise(*with.tree) == serialise(*without.tree));
}

TEST(Finishing, counts_as_an_iteration) {
  for (const Worth worth : {Worth::Better, Worth::Worse, Worth::Depends}) {
    const PlanResult result = FinishingRun(worth).search(400);
    EXPECT_EQ(result.tree->iterations, 400);
    EXPECT_LE(result.evaluations, 400 + 2);  // data parallelism, and the root
  }
}

TEST(Finishing, stopped_anywhere_it_goes_on_as_if_it_had_not) {
  for (const Worth worth : {Worth::Better, Worth::Worse, Worth::Depends}) {
    FinishingRun search(worth);
    const PlanResult whole = search.search(240);
    for (std::int64_t first = 48; first < 240; first += 8) {
      const PlanResult half = search.search(first);
      const PlanResult rest = search.search(240 - first, stored(*half.tree));
      EXPECT_EQ(rest.strategy, whole.strategy) << "stopped after " << first;
      EXPECT_TRUE(serialise(*rest.tree) == serialise(*whole.tree)) << "stopped after " << first;
    }
  }
}

// Finishing helps one group and costs another: the search finds out which, whether all of it
// together is much better than nothing (then it goes on finished) or worse (then plain).
TEST(Finishing, finishes_only_the_groups_that_gain) {
  const Problem problem = toy::chain_problem(toy::small_cluster(2, 2), 5);
  const OpId good = problem.grouping->group(GroupId(1)).ops.front();
  const OpId bad = problem.grouping->group(GroupId(2)).ops.front();
  for (const auto& [gain, loss] : {std::pair{900'000, 100'000}, {100'000, 900'000}}) {
    toy::FakeEvaluator evaluator(*problem.cluster, [&](const Strategy& strategy) {
      Score score = toy::separable(strategy);
      for (const OpId op : strategy.duplicated) score.step_time += Nanos(op == good ? -gain : loss);
      return score;
    });
    TreeSearchOptions options;
    options.finish = [&](Strategy& strategy) {
      strategy.duplicated = {std::min(good, bad), std::max(good, bad)};
    };
    options.finish_always = false;
    PlannerOptions common;
    common.iterations = 800;
    Observer nobody;
    const PlanResult result = tree_search({problem, evaluator, common, nobody}, options);
    EXPECT_EQ(result.strategy.duplicated, std::vector<OpId>{good}) << "gain " << gain;
    EXPECT_EQ(result.score.step_time, evaluator.evaluate(result.strategy).step_time);
    EXPECT_EQ(result.tree->iterations, 800);

    // What it kept is stored, and refused when it is damaged.
    SearchTree tree = *result.tree;
    common.iterations = 8;
    const auto again = [&](const SearchTree& from) {
      return tree_search({problem, evaluator, common, nobody, {}, stored(from)}, options);
    };
    EXPECT_LE(again(tree).score.step_time, result.score.step_time);
    if (tree.state.aside.actions.empty()) continue;
    const auto refused = [&](auto&& change) {
      SearchTree damaged = *result.tree;
      change(damaged.state);
      EXPECT_THROW(again(damaged), InputError);
    };
    refused([](SearchState& s) { s.aside.actions.clear(); });
    refused([](SearchState& s) { s.aside.actions.pop_back(); });
    refused([](SearchState& s) { s.aside.unfinished.pop_back(); });
    refused([](SearchState& s) { s.aside.actions[4] = 99999; });
    refused([](SearchState& s) { s.aside.actions[4] = -1; });
    refused([](SearchState& s) { s.barred = {{0, 0, 0, 0}, GroupFlags(5, false)}; });
    refused([](SearchState& s) { s.barred.unfinished.assign(5, false); });
  }
}

// Trees of before say nothing of how the incumbent is finished.
TEST(Finishing, reads_trees_of_before_and_refuses_damaged_ones) {
  FinishingRun search(Worth::Depends);
  const SearchTree whole = *search.search(96).tree;
  const auto go_on = [&](auto&& change) {
    SearchTree tree = whole;
    change(tree.state);
    return search.search(8, std::make_shared<const SearchTree>(tree));
  };
  const PlanResult older = go_on([](SearchState& s) {
    s.incumbent_unfinished.clear();
    s.tried_otherwise.clear();
    s.all_tried_otherwise = false;
  });
  EXPECT_EQ(older.tree->iterations, 104);
  const auto refused = [&](auto&& change) { EXPECT_THROW(go_on(change), InputError); };
  refused([](SearchState& s) { s.incumbent_unfinished.pop_back(); });
  refused([](SearchState& s) { s.tried_otherwise.pop_back(); });
  refused([](SearchState& s) { s.tried_otherwise.clear(); });
  refused([](SearchState& s) { s.baseline_ns = -1; });
  refused([](SearchState& s) { s.pinned_since = 99999; });
  // No number of steps to count on from.
  refused([](SearchState& s) { s.local.steps = std::numeric_limits<std::int64_t>::max(); });
  refused([](SearchState& s) { s.local.steps = -1; });
}

}  // namespace
}  // namespace strato
