// Strategies that the prior decides from the first group to the last.
#include <gtest/gtest.h>

#include "core/search/portfolio/tree_search.h"
#include "core/search/tree/search_tree.h"
#include "tests/core/search/toy.h"

namespace strato {
namespace {

// Knows what is best for every group, and counts how often
// it is asked without a score.
struct Expert final : PriorProvider {
  std::size_t blind = 0;

  std::vector<std::vector<float>> priors(const Problem&, const std::vector<Decision>& actions,
                                         std::span<const PriorQuery> queries) override {
    std::vector<std::vector<float>> rows;
    for (const PriorQuery& query : queries) {
      if (query.score.step_time == Nanos(0)) ++blind;
      std::vector<float> row(actions.size(), 0.1F / static_cast<float>(actions.size()));
      const auto cost = [&](const Decision& action) {
        // nothing is trained here: PS is AllReduce
        return action.mode == Mode::ReplicatePs ? std::numeric_limits<std::int64_t>::max()
                                                : toy::scrambled_cost(query.next.index(), action);
      };
      const auto best = std::ranges::min_element(actions, {}, cost);
      row[static_cast<std::size_t>(best - actions.begin())] = 0.9F;
      rows.push_back(std::move(row));
    }
    return rows;
  }
};

struct Decided {
  Problem problem = toy::chain_problem(toy::sample_cluster("tag-testbed"), 12);
  PlannerOptions options;
  TreeSearchOptions search;
  Expert expert;
  Observer quiet;

  Decided() { options.iterations = 64; }

  PlanResult operator()(std::shared_ptr<const SearchTree> resume = nullptr) {
    toy::FakeEvaluator evaluator(*problem.cluster, toy::separable);
    return tree_search({problem, evaluator, options, quiet, {}, resume}, search, &expert);
  }
};

Nanos optimum(const Problem& problem, std::size_t but) {
  Nanos sum;
  for (std::size_t g = 0; g < problem.grouping->size(); ++g) {
    if (g == but) continue;
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    for (const Decision& action : make_actions(problem, {}))
      if (action.mode != Mode::ReplicatePs) least = std::min(least, toy::scrambled_cost(g, action));
    sum += Nanos(least);
  }
  return sum;
}

TEST(TreeDecide, local_improvement_begins_where_the_prior_knows_best) {
  Decided run;
  const Nanos best = optimum(run.problem, run.problem.grouping->size());
  EXPECT_EQ(run().score.step_time, best);  // the first two rounds of local improvement
  EXPECT_GT(run.expert.blind, 0U);
  Decided without;
  without.search.decide = false;
  EXPECT_GT(without().score.step_time, best);
  EXPECT_EQ(without.expert.blind, 0U);
}

TEST(TreeDecide, pinned_groups_stay_as_they_are) {
  Decided run;
  const GroupId pinned(std::size_t{5});
  run.search.pins.resize(run.problem.grouping->size());
  run.search.pins[pinned] = toy::odd_decision();
  const PlanResult result = run();
  EXPECT_EQ(result.strategy.groups[pinned], toy::odd_decision());
  EXPECT_EQ(result.score.step_time,
            optimum(run.problem, pinned.index()) +
                Nanos(toy::scrambled_cost(pinned.index(), toy::odd_decision())));
}

TEST(TreeDecide, a_resumed_search_is_the_one_that_never_stopped) {
  for (const std::int64_t first : {48, 56, 64, 72}) {
    Decided run;
    run.options.iterations = first;
    const PlanResult before = run();
    run.options.iterations = 160 - first;
    const auto resumed =
        run(std::make_shared<const SearchTree>(parse_search_tree(serialise(*before.tree))));
    run.options.iterations = 160;
    EXPECT_TRUE(serialise(*resumed.tree) == serialise(*run().tree)) << first;
  }
}

TEST(TreeDecide, a_prior_with_nothing_to_say_is_followed_by_rank) {
  struct Silent final : PriorProvider {
    std::vector<std::vector<float>> priors(const Problem&, const std::vector<Decision>&,
                                           std::span<const PriorQuery> queries) override {
      return std::vector<std::vector<float>>(queries.size());
    }
  } silent;
  Decided run;
  toy::FakeEvaluator evaluator(*run.problem.cluster, toy::separable);
  const auto result =
      tree_search({run.problem, evaluator, run.options, run.quiet}, run.search, &silent);
  EXPECT_EQ(result.tree->iterations, 64);
}

}  // namespace
}  // namespace strato
