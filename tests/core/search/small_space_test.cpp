// Problems with few strategies: nothing is faster than its bound, and the search leaves out no more
// than bounds say.
#include <gtest/gtest.h>

#include <set>

#include "core/search/evaluate/actions.h"
#include "core/search/evaluate/simulating_evaluator.h"
#include "core/search/local/bound_use.h"
#include "core/search/portfolio/tree_search.h"
#include "core/search/tree/search_tree.h"
#include "core/search/tree/steer.h"
#include "tests/core/search/toy.h"

namespace strato {
namespace {

Problem trained(std::shared_ptr<const Cluster> cluster, const std::vector<std::int64_t>& widths,
                std::int64_t batch, int groups) {
  ProblemOptions options;
  options.grouping.max_groups = groups;
  return make_problem(toy::chain(widths, batch), std::move(cluster), options);
}

std::vector<std::vector<std::int32_t>> all_legal(const Problem& problem, std::size_t actions) {
  std::vector<std::int32_t> all;
  for (std::size_t a = 0; a < actions; ++a) all.push_back(static_cast<std::int32_t>(a));
  return {problem.grouping->size(), all};
}

Strategy strategy_of(const std::vector<Decision>& actions, const ActionVector& chosen) {
  Strategy strategy;
  for (const std::int32_t a : chosen)
    strategy.groups.emplace_back(actions[static_cast<std::size_t>(a)]);
  return strategy;
}

TEST(SmallSpace, lists_every_strategy_once_in_the_order_of_bounds) {
  const Problem problem = trained(toy::small_cluster(1, 1), {256, 2048, 512}, 32, 2);
  const std::vector<Decision> actions = make_actions(problem, {});
  const auto legal = all_legal(problem, actions.size());
  ASSERT_TRUE(SmallSpace::is_small(problem, legal));
  const SmallSpace space(problem, actions, legal);
  ASSERT_EQ(space.size(), actions.size() * actions.size());
  const auto evaluator = make_simulating_evaluator(problem, 1);
  std::set<ActionVector> seen;
  for (std::size_t place = 0; place < space.size(); ++place) {
    EXPECT_LE(space.bound(place > 0 ? place - 1 : 0), space.bound(place));
    const ActionVector chosen = space.strategy(place);
    EXPECT_TRUE(seen.insert(chosen).second);
    EXPECT_EQ(space.bound_of(chosen), space.bound(place));
    EXPECT_LE(space.bound(place), evaluator->evaluate(strategy_of(actions, chosen)).step_time);
  }
}

TEST(SmallSpace, lists_nothing_when_it_was_asked_to_stop) {
  const Problem problem = trained(toy::small_cluster(1, 1), {256, 2048, 512}, 32, 2);
  const std::vector<Decision> actions = make_actions(problem, {});
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(
      SmallSpace(problem, actions, all_legal(problem, actions.size()), stop.get_token()).size(),
      0U);
}

TEST(SmallSpace, large_spaces_are_not_small) {
  const Problem problem = toy::chain_problem(toy::sample_cluster("tag-testbed"), 8);
  const auto legal = all_legal(problem, make_actions(problem, {}).size());
  EXPECT_FALSE(SmallSpace::is_small(problem, legal));
}

struct BoundedRun {
  PlannerOptions options;
  std::shared_ptr<const SearchTree> resume;

  PlanResult operator()(const Problem& problem, Evaluator& evaluator) {
    Observer quiet;
    return tree_search({problem, evaluator, options, quiet, {}, resume},
                       TreeSearchOptions::from(options));
  }
  PlanResult operator()(const Problem& problem) {
    return (*this)(problem, *make_simulating_evaluator(problem, 1));
  }
};

Nanos optimum(const Problem& problem) {
  const std::vector<Decision> actions = make_actions(problem, {});
  const SmallSpace space(problem, actions, all_legal(problem, actions.size()));
  const auto evaluator = make_simulating_evaluator(problem, 1);
  Nanos best = Nanos::max();
  for (std::size_t place = 0; place < space.size(); ++place) {
    const Score score = evaluator->evaluate(strategy_of(actions, space.strategy(place)));
    if (score.feasible) best = std::min(best, score.step_time);
  }
  return best;
}

constexpr const char* kProven = "nothing else can be faster";

TEST(SmallSpace, search_ends_when_nothing_else_can_be_faster) {
  const Problem problem = trained(toy::small_cluster(1, 1), {256, 4096, 512}, 256, 2);
  BoundedRun run;
  run.options.iterations = 100'000;
  const PlanResult result = run(problem);
  EXPECT_EQ(result.score.step_time, optimum(problem));
  EXPECT_NE(result.note.find(kProven), std::string::npos) << result.note;
  EXPECT_LT(result.evaluations, 60);
  run.resume = result.tree;  // there is nothing left to do
  const PlanResult again = run(problem);
  EXPECT_EQ(again.score.step_time, result.score.step_time);
  EXPECT_NE(again.note.find(kProven), std::string::npos) << again.note;
  run.resume = nullptr;
  run.options.set = {{"bounds", "false"}};
  EXPECT_EQ(run(problem).note.find(kProven), std::string::npos);
}

TEST(SmallSpace, respects_pins) {
  const Problem problem = trained(toy::small_cluster(1, 1), {256, 4096, 512}, 256, 2);
  BoundedRun run;
  run.options.iterations = 16;
  SearchTree tree = *run(problem).tree;
  const Decision slow = tree.actions[1];
  pin(tree, GroupId(1), slow);
  run.resume = std::make_shared<const SearchTree>(tree);
  run.options.iterations = 100'000;
  EXPECT_EQ(run(problem).strategy.groups[GroupId(1)], slow);
}

TEST(SmallSpace, goes_on_where_it_stopped) {
  const Problem problem = trained(toy::small_cluster(1, 1), {64, 2048, 64, 2048, 64}, 256, 3);
  BoundedRun run;
  for (const std::int64_t half : {24, 48, 80}) {
    run.resume = nullptr;
    run.options.iterations = 2 * half;
    const PlanResult whole = run(problem);
    run.options.iterations = half;
    run.resume =
        std::make_shared<const SearchTree>(parse_search_tree(serialise(*run(problem).tree)));
    const PlanResult rest = run(problem);
    EXPECT_EQ(rest.score.step_time, whole.score.step_time);
    EXPECT_TRUE(serialise(*rest.tree) == serialise(*whole.tree)) << half;
  }
}

// An evaluator that measures may find what bounds rule out: then they are not believed any more.
TEST(SmallSpace, contradicted_bounds_are_dropped) {
  const Problem problem = trained(toy::small_cluster(1, 1), {256, 4096, 512}, 256, 2);
  toy::FakeEvaluator evaluator(*problem.cluster, [](const Strategy& strategy) {
    Score score = toy::separable(strategy);
    score.step_time = Nanos(score.step_time.value / 1'000'000'000 + 1);
    return score;
  });
  BoundedRun run;
  run.options.iterations = 64;
  const PlanResult result = run(problem, evaluator);
  EXPECT_EQ(result.note.find(kProven), std::string::npos);
  run.resume = result.tree;
  EXPECT_EQ(run(problem, evaluator).note.find(kProven), std::string::npos);
}

}  // namespace
}  // namespace strato
