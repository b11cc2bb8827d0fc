// A search that finishes its strategies (as `tag` adds sufficient factor broadcasting) and tries
// its best ones without that, too.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/search/mcts/tree_search.h"
#include "core/search/tree/search_tree.h"
#include "core/search/tree/search_tree_io.h"
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

class Finishing {
 public:
  explicit Finishing(Worth worth) : Finishing(worth, Landscape{worth}) {}
  Finishing(Worth worth, toy::FakeEvaluator::Formula formula)
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
    return tree_search(problem_, evaluator_, *make_uniform_prior(), common, options_, nobody, {},
                       std::move(resume));
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

TEST(Twin, leaves_finishing_out_where_that_is_better) {
  Finishing search(Worth::Worse);
  const PlanResult result = search.search(400);
  EXPECT_TRUE(result.strategy.duplicated.empty());
  EXPECT_EQ(search.evaluator().evaluate(result.strategy).step_time, result.score.step_time);
  search.options().finish_always = true;
  EXPECT_FALSE(search.search(400).strategy.duplicated.empty());
  EXPECT_LT(result.score.step_time, search.search(400).score.step_time);
}

TEST(Twin, keeps_finishing_where_that_is_better) {
  const PlanResult result = Finishing(Worth::Better).search(400);
  EXPECT_FALSE(result.strategy.duplicated.empty());
}

// Plain and decided otherwise at once is best, either alone is worse than neither.
TEST(Twin, changes_a_decision_and_leaves_its_finishing_out_at_once) {
  Finishing search(Worth::Better, [](const Strategy& strategy) {
    const bool plain = strategy.duplicated.empty();
    const bool other = strategy.groups[GroupId(0)]->mode == Mode::ModelParallel;
    return Score{Nanos(plain && other ? 4'000 : plain || other ? 6'000 : 5'000), true, {}, nullptr};
  });
  EXPECT_EQ(search.search(400).score.step_time, Nanos(4'000));
}

// Nothing to finish: the same search as without, evaluation by evaluation.
TEST(Twin, costs_nothing_where_there_is_none) {
  Finishing search(Worth::Nothing);
  const PlanResult with = search.search(400);
  search.options().finish = nullptr;
  const PlanResult without = search.search(400);
  EXPECT_EQ(with.strategy, without.strategy);
  EXPECT_EQ(with.evaluations, without.evaluations + 1);  // data parallelism, which is the root here
  EXPECT_TRUE(serialise(*with.tree) == serialise(*without.tree));
}

TEST(Twin, counts_as_an_iteration) {
  for (const Worth worth : {Worth::Better, Worth::Worse, Worth::Depends}) {
    const PlanResult result = Finishing(worth).search(400);
    EXPECT_EQ(result.tree->iterations, 400);
    EXPECT_LE(result.evaluations, 400 + 2);  // data parallelism, and the root
  }
}

TEST(Twin, stopped_anywhere_it_goes_on_as_if_it_had_not) {
  for (const Worth worth : {Worth::Better, Worth::Worse, Worth::Depends}) {
    Finishing search(worth);
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
TEST(Twin, finishes_only_the_groups_that_gain) {
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
    const PlanResult result = tree_search(problem, evaluator, *make_uniform_prior(), common,
                                          options, nobody, {}, nullptr);
    EXPECT_EQ(result.strategy.duplicated, std::vector<OpId>{good}) << "gain " << gain;
    EXPECT_EQ(result.score.step_time, evaluator.evaluate(result.strategy).step_time);
    EXPECT_EQ(result.tree->iterations, 800);

    // What it kept is stored, and refused when it is damaged.
    SearchTree tree = *result.tree;
    common.iterations = 8;
    const auto again = [&](const SearchTree& from) {
      return tree_search(problem, evaluator, *make_uniform_prior(), common, options, nobody, {},
                         stored(from));
    };
    EXPECT_LE(again(tree).score.step_time, result.score.step_time);
    const std::size_t kept = tree.random_state.find(" k");
    if (kept == std::string::npos) continue;
    const std::string state = tree.random_state;
    const std::size_t slash = state.find('/');
    for (const char* word : {" k", " k11111", " k01111,0,0,0,0", " k01111,0,0,0,0,99999",
                             " k01111,0,0,0,0,-1", " k01211,0,0,0,0,0", " x01111,0,0,0,0,0", " r",
                             " r01111,0,0,0,0", " r01111,0,0,0,0,0 r01111,0,0,0,0,0"}) {
      tree.random_state = state.substr(0, kept) + word + state.substr(slash);
      EXPECT_THROW(again(tree), InputError) << word;
    }
  }
}

// Its last word says what the twin takes; trees of before have none.
TEST(Twin, reads_trees_of_before_and_refuses_damaged_ones) {
  Finishing search(Worth::Depends);
  SearchTree tree = *search.search(96).tree;
  const std::string state = tree.random_state;
  const std::size_t slash = state.find('/'), space = state.rfind(' ', slash);
  tree.random_state = state.substr(0, space) + state.substr(slash);
  EXPECT_EQ(search.search(8, stored(tree)).tree->iterations, 104);
  for (const char* word : {" -1", " x", " 1 2", " 99999999999999999999"}) {
    tree.random_state = state.substr(0, space) + word + state.substr(slash);
    EXPECT_THROW(search.search(8, stored(tree)), InputError) << word;
  }
  // Behind the slash, the steps of local improvement: no number to count on from.
  const std::size_t end = state.find(';', slash);
  ASSERT_NE(end, std::string::npos);
  for (const char* steps : {"9223372036854775807", "-1"}) {
    tree.random_state = state.substr(0, slash + 1) + steps + state.substr(end);
    EXPECT_THROW(search.search(8, stored(tree)), InputError) << steps;
  }
}

}  // namespace
}  // namespace strato
