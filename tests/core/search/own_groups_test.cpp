// Strategies that divide the problem's groups: everything that scores, compares or changes them.
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/schedule/list/placement.h"
#include "core/search/evaluate/actions.h"
#include "core/search/evaluate/baselines.h"
#include "core/search/evaluate/outcome.h"
#include "core/search/evaluate/simulating_evaluator.h"
#include "core/search/local/local_search.h"
#include "core/search/run/run_planner.h"
#include "core/search/tree/search_tree.h"
#include "core/search/tree/steer.h"
#include "tests/core/search/toy.h"

namespace strato {
namespace {

Problem problem_in_groups(int groups) {
  ProblemOptions options;
  options.grouping.max_groups = groups;
  return make_problem(toy::chain(6, 16, 128), toy::small_cluster(2, 2), options);
}

// Op i on device (i / stride) % devices.
Strategy scattered(const Problem& problem, std::size_t stride) {
  std::vector<Decision> choices;
  for (std::size_t d = 0; d < problem.cluster->device_count(); ++d)
    choices.push_back(decision_on_device(DeviceId(d)));
  std::vector<std::int32_t> choice_of;
  for (std::size_t i = 0; i < problem.graph->op_count(); ++i)
    choice_of.push_back(static_cast<std::int32_t>(i / stride % choices.size()));
  return strategy_by_ops(problem, choice_of, choices);
}

TEST(OwnGroups, every_op_is_told_its_choice) {
  const Problem problem = problem_in_groups(3);
  const Strategy strategy = scattered(problem, 2);
  ASSERT_NE(strategy.grouping, nullptr);
  const Problem own = problem_for(problem, strategy);
  EXPECT_EQ(own.grouping, strategy.grouping);
  EXPECT_NO_THROW(validate(strategy, *own.grouping, *own.cluster));
  for (std::size_t i = 0; i < problem.graph->op_count(); ++i) {
    const auto& decision = strategy.groups[own.grouping->group_of(OpId(i))];
    EXPECT_EQ(decision, decision_on_device(DeviceId(i / 2 % 4))) << i;
  }
}

TEST(OwnGroups, are_not_validated_as_the_problems) {
  const Problem problem = problem_in_groups(3);
  const Strategy strategy = scattered(problem, 2);
  EXPECT_THROW(validate(strategy, *problem.grouping, *problem.cluster), InputError);
  // Not even where their number happens to be the same.
  std::vector<std::int32_t> group_of(problem.graph->op_count());
  for (std::size_t i = 0; i < group_of.size(); ++i) group_of[i] = static_cast<std::int32_t>(i % 3);
  const std::vector<Nanos> times(group_of.size(), Nanos(1));
  Strategy other = data_parallel(problem);
  other.groups.resize(3);
  other.grouping = std::make_shared<const Grouping>(*problem.graph, group_of, times);
  ASSERT_EQ(problem.grouping->size(), other.grouping->size());
  EXPECT_THROW(validate(other, *problem.grouping, *problem.cluster), InputError);
  EXPECT_NO_THROW(validate(other, *other.grouping, *problem.cluster));
}

TEST(OwnGroups, have_one_score_however_they_are_evaluated) {
  const Problem problem = problem_in_groups(4);
  std::vector<Strategy> strategies;
  for (std::size_t stride = 1; stride < 8; ++stride) {
    strategies.push_back(scattered(problem, stride));
    strategies.push_back(data_parallel(problem));
    strategies.push_back(strategies[strategies.size() - 2]);  // the same groups again
    Strategy near = strategies.back();
    near.groups[GroupId(0)] = decision_on_device(DeviceId(3));
    strategies.push_back(near);
  }
  std::vector<Nanos> expected;
  for (const Strategy& strategy : strategies)
    expected.push_back(simulate_strategy(problem, strategy).score.step_time);
  for (const int threads : {1, 3}) {
    const auto evaluator = make_simulating_evaluator(problem, threads, true);
    const auto caching = make_caching_evaluator(*evaluator);
    for (int again = 0; again < 2; ++again) {
      const std::vector<Score> plain = evaluator->evaluate(strategies);
      const std::vector<Score> cached = caching->evaluate(strategies);
      for (std::size_t i = 0; i < strategies.size(); ++i) {
        EXPECT_EQ(plain[i].step_time, expected[i]) << i;
        EXPECT_EQ(cached[i].step_time, expected[i]) << i;
        const Problem own = problem_for(problem, strategies[i]);
        EXPECT_EQ(plain[i].feedback->groups.size(), own.grouping->size());
      }
    }
  }
}

TEST(OwnGroups, alike_but_for_the_groups_are_two_for_a_cache) {
  const Problem problem = problem_in_groups(4);
  const Strategy a = scattered(problem, 1);
  Strategy b = scattered(problem, 3);
  ASSERT_NE(a.grouping->digest(), b.grouping->digest());
  b.groups = a.groups;
  b.groups.resize(b.grouping->size(), decision_on_device(DeviceId(0)));
  EXPECT_NE(a.digest(), b.digest());
  EXPECT_FALSE(a == b);
  const auto evaluator = make_simulating_evaluator(problem, 1);
  const auto caching = make_caching_evaluator(*evaluator);
  const std::vector<Strategy> both = {a, b};
  const std::vector<Score> scores = caching->evaluate(both);
  EXPECT_EQ(scores[0].step_time, simulate_strategy(problem, a).score.step_time);
  EXPECT_EQ(scores[1].step_time, simulate_strategy(problem, b).score.step_time);
}

TEST(OwnGroups, are_completed_by_their_own_first_decision) {
  const Problem problem = problem_in_groups(4);
  Strategy strategy = scattered(problem, 1);
  for (auto& group : strategy.groups) group.reset();
  strategy.groups[GroupId(5)] = decision_on_device(DeviceId(2));
  const Strategy whole = complete(strategy, *problem.cluster);
  EXPECT_EQ(whole.grouping, strategy.grouping);
  EXPECT_EQ(whole.groups, (IdVector<GroupId, std::optional<Decision>>(
                              strategy.groups.size(), decision_on_device(DeviceId(2)))));
}

// A planner with groups of its own goes through run_planner like any other.
struct Scattering : Planner {
  std::size_t stride = 5;
  std::string name() const override { return "scattering"; }
  PlanResult plan(const Problem& problem, Evaluator& evaluator, const PlannerOptions&,
                  Observer& observer, std::stop_token, std::shared_ptr<const SearchTree>) override {
    PlanResult result;
    result.strategy = scattered(problem, stride);
    result.score = evaluator.evaluate(result.strategy);
    observer.on_improvement(result.strategy, result.score, {1, 1, 0, result.score});
    return result;
  }
};

TEST(OwnGroups, are_a_planners_result_above_the_floor_or_without_it) {
  const Problem problem = problem_in_groups(4);
  Scattering planner;
  Observer quiet;
  const PlanResult above = run_planner(planner, problem, {}, quiet, {});
  EXPECT_EQ(simulate_strategy(problem, above.strategy).score.step_time, above.score.step_time);
  PlannerOptions options;
  options.floor = false;
  const PlanResult own = run_planner(planner, problem, options, quiet, {});
  ASSERT_NE(own.strategy.grouping, nullptr);
  EXPECT_EQ(simulate_strategy(problem, own.strategy).score.step_time, own.score.step_time);
  EXPECT_FALSE(own.score.better_than(above.score));
}

TEST(OwnGroups, local_search_goes_on_in_them) {
  const Problem problem = problem_in_groups(4);
  const Strategy start = scattered(problem, 4);
  const Problem own = problem_for(problem, start);
  std::vector<Decision> actions;
  for (std::size_t d = 0; d < problem.cluster->device_count(); ++d)
    actions.push_back(decision_on_device(DeviceId(d)));
  std::vector<std::int32_t> all = {0, 1, 2, 3};
  LocalSearch search(Neighbourhood(own, actions, std::vector(own.grouping->size(), all)), 7);
  ActionVector chosen;
  for (const auto& group : start.groups) chosen.push_back(group->devices.front().device.value());
  const auto evaluator = make_simulating_evaluator(problem, 1);  // of the problem's groups
  const Score before = evaluator->evaluate(start);
  search.restart_from(chosen, before);
  const auto strategy_of = [&](const ActionVector& vector) {
    Strategy strategy = start;
    for (std::size_t g = 0; g < vector.size(); ++g)
      strategy.groups[GroupId(g)] = actions[static_cast<std::size_t>(vector[g])];
    return strategy;
  };
  for (int step = 0; step < 40; ++step) {
    std::vector<Strategy> proposals;
    for (const ActionVector& vector : search.propose(4)) proposals.push_back(strategy_of(vector));
    const std::vector<Score> scores = evaluator->evaluate(proposals);
    search.accept(scores);
  }
  const Score after = simulate_strategy(problem, strategy_of(search.incumbent())).score;
  EXPECT_TRUE(after.better_than(before));
}

TEST(OwnGroups, do_not_steer_the_problems_tree) {
  const Problem problem = problem_in_groups(4);
  SearchTree tree;
  tree.order.resize(problem.grouping->size());
  for (std::size_t g = 0; g < tree.order.size(); ++g) tree.order[g] = GroupId(g);
  tree.vertices.resize(1);
  const SearchTree before = tree;
  EXPECT_THROW(restrict_to(tree, {}, scattered(problem, 2)), InputError);
  EXPECT_EQ(tree.pinned.size(), before.pinned.size());
}

}  // namespace
}  // namespace strato
