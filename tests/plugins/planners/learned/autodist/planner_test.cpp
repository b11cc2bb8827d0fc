// autodist as it is shipped.
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/search/constraints/constraints.h"
#include "core/search/evaluate/outcome.h"
#include "core/search/evaluate/simulating_evaluator.h"
#include "core/search/run/run_planner.h"
#include "core/search/tree/search_tree.h"
#include "plugins/planners/learned/autodist/plan/sync_task.h"
#include "plugins/planners/learned/autodist/search/race.h"
#include "tests/plugins/planners/learned/autodist/kit.h"
#include "tests/plugins/shipped.h"

namespace strato::autodist {
namespace {

PlannerOptions evaluations(std::int64_t count, std::map<std::string, std::string> set = {}) {
  PlannerOptions options;
  options.iterations = count;
  options.set = std::move(set);
  return options;
}

PlanResult plan(const Problem& problem, const PlannerOptions& options,
                std::shared_ptr<const SearchTree> resume = nullptr, std::stop_token stop = {}) {
  Observer quiet;
  return run_planner(*registry().planner("autodist"), problem, options, quiet, std::move(stop),
                     std::move(resume));
}

Problem small_problem() {
  return make_problem(toy::chain({64, 512, 2048, 256, 64}, 64), toy::small_cluster(2, 2), {});
}

TEST(AutoDist, IsSoundOnEveryVariant) {
  const Problem problem = small_problem();
  const Score plain = simulate_strategy(problem, data_parallel(problem)).score;
  for (const std::map<std::string, std::string>& set : {std::map<std::string, std::string>{},
                                                        {{"sampler", "random"}},
                                                        {{"learned", "false"}, {"rows", "false"}},
                                                        {{"variant", "paper"}},
                                                        {{"changes", "1"}, {"trials", "3"}}}) {
    const PlanResult result = plan(problem, evaluations(60, set));
    validate(result.strategy, *problem.grouping, *problem.cluster);
    EXPECT_EQ(simulate_strategy(problem, result.strategy).score.step_time, result.score.step_time);
    EXPECT_FALSE(plain.better_than(result.score));
    EXPECT_FALSE(result.note.empty());
  }
}

TEST(AutoDist, EveryBuilderIsAPlanner) {
  const Problem problem = small_problem();
  const SyncTask task(problem, data_parallel(problem));
  for (const std::string_view name : builder_names()) {
    PlannerOptions options = evaluations(1, {{"builder", std::string(name)}});
    options.floor = false;
    const bool same = plan(problem, options).strategy.variables ==
                      strategy_of(task, build(name, task, {})).variables;
    EXPECT_TRUE(same) << name;
  }
}

TEST(AutoDist, KeepsToItsBudgetAndDoesNotDependOnThreads) {
  const Problem problem = small_problem();
  PlannerOptions one = evaluations(50), four = evaluations(50);
  one.threads = 1;
  one.floor = four.floor = false;
  four.threads = 4;
  const PlanResult a = plan(problem, one), b = plan(problem, four);
  EXPECT_EQ(a.strategy, b.strategy);
  EXPECT_LE(a.evaluations, 50);
  for (const std::int64_t few : {0, 1, 5})
    EXPECT_LE(plan(problem, evaluations(few)).evaluations, few + 10);
}

// Much to send and little to compute, on many machines: fewer replicas are faster.
TEST(AutoDist, HasReplicasWhereTheyPay) {
  const Problem problem =
      make_problem(toy::chain({64, 4096, 4096, 64}, 64), toy::small_cluster(2, 6), {});
  const std::vector<Strategy> fewer = on_fewer_devices(problem);
  ASSERT_EQ(fewer.size(), 6U);  // 2, 3, 4, 6 of 8; 4 and 6 machines have 5 and 7
  for (const Strategy& strategy : fewer) validate(strategy, *problem.grouping, *problem.cluster);
  EXPECT_EQ(fewer[0].groups.front()->devices,
            (std::vector<DeviceShare>{{DeviceId(0), 1}, {DeviceId(1), 1}}));
  PlannerOptions best = evaluations(40), all = evaluations(40, {{"replicas", "all"}});
  best.floor = all.floor = false;
  const PlanResult chosen = plan(problem, best), everywhere = plan(problem, all);
  EXPECT_EQ(everywhere.strategy.groups.front()->devices.size(), 8U);
  EXPECT_LT(chosen.strategy.groups.front()->devices.size(), 8U);
  EXPECT_TRUE(chosen.score.better_than(everywhere.score));
  const auto told = [](const PlanResult& result) {
    return std::ranges::count(result.facts, "Replicas", &PlanResult::Fact::name);
  };
  EXPECT_EQ(told(chosen), 1);
  EXPECT_EQ(told(everywhere), 0);
  // A builder is what its makers made it: on all devices.
  best.set = {{"builder", "horovod"}};
  EXPECT_EQ(plan(problem, best).strategy.groups.front()->devices.size(), 8U);
}

// Values can be gathered while there is nothing else to send yet.
TEST(AutoDist, KeepsInPartsWhatIsFasterSo) {
  const Problem problem = make_problem(
      toy::chain({64, 4096, 4096, 4096, 4096, 4096, 4096, 64}, 4096), toy::small_cluster(1, 3), {});
  PlannerOptions options = evaluations(60, {{"replicas", "all"}});
  options.floor = false;
  const PlanResult chosen = plan(problem, options);
  options.set["sharded"] = "0";
  const PlanResult whole = plan(problem, options);
  EXPECT_TRUE(whole.strategy.splits.empty());
  EXPECT_FALSE(chosen.strategy.splits.empty());
  EXPECT_TRUE(chosen.score.better_than(whole.score));
  // Also of a start that has variables in parts.
  options.seeds = {chosen.strategy};
  const PlanResult from_parts = plan(problem, options);
  EXPECT_FALSE(chosen.score.better_than(from_parts.score)) << "a start is lost";
  options.seeds.clear();
  options.set["sharded"] = "2";
  EXPECT_THROW(plan(problem, options), InputError);
}

// The devices that constraints leave decide, too.
TEST(AutoDist, HasNoReplicasWhereTheyAreForbidden) {
  const Problem problem =
      make_problem(toy::chain({64, 4096, 4096, 64}, 64), toy::small_cluster(2, 6), {});
  PlannerOptions options = evaluations(30);
  Constraints constraints;
  constraints.forbidden = {parse_forbid("*=fast")};
  options.constraints = std::make_shared<const Constraints>(constraints);
  for (const auto& decision : plan(problem, options).strategy.groups)
    for (const DeviceShare& share : decision->devices) EXPECT_GE(share.device, DeviceId(2));
}

TEST(AutoDist, GoesOnFromAWorkspace) {
  const Problem problem = small_problem();
  PlannerOptions whole = evaluations(70), part = evaluations(50), rest = evaluations(20);
  const PlanResult expected = plan(problem, whole);
  const PlanResult first = plan(problem, part);
  const auto stored = std::make_shared<SearchTree>(parse_search_tree(serialise(*first.tree)));
  const PlanResult second = plan(problem, rest, stored);
  EXPECT_EQ(second.tree->iterations, 70);
  EXPECT_FALSE(first.score.better_than(second.score));
  EXPECT_EQ(second.strategy.digest() == expected.strategy.digest(),
            second.score.step_time == expected.score.step_time);
  rest.seed = 2;
  EXPECT_THROW(plan(problem, rest, stored), InputError);
  rest.seed = 1;
  Constraints constraints;  // what was tried under others says nothing
  constraints.forbidden = {parse_forbid("*=fast")};
  rest.constraints = std::make_shared<const Constraints>(constraints);
  EXPECT_THROW(plan(problem, rest, stored), InputError);
  rest.constraints = nullptr;
  EXPECT_THROW(plan(problem, evaluations(20, {{"changes", "0"}}), stored), InputError);
}

// Of one variable on two devices there are few plans: the last rounds find less than they ask for.
TEST(AutoDist, GoesOnWhenThereWasNothingLeft) {
  const Problem problem = make_problem(toy::chain(1, 8, 16), toy::small_cluster(2, 0), {});
  for (const char* learned : {"false", "true"}) {
    const PlanResult first = plan(problem, evaluations(5000, {{"learned", learned}}));
    ASSERT_LT(first.tree->iterations, 5000) << "not exhausted";
    const auto stored = std::make_shared<SearchTree>(parse_search_tree(serialise(*first.tree)));
    const PlanResult again = plan(problem, evaluations(50, {{"learned", learned}}), stored);
    EXPECT_GE(again.tree->iterations, first.tree->iterations);
    EXPECT_EQ(again.score.step_time, first.score.step_time);
  }
}

TEST(AutoDist, StopsWithTheBestThatItHas) {
  std::stop_source stop;
  stop.request_stop();
  Observer quiet;
  const PlanResult result = run_planner(*registry().planner("autodist"), small_problem(),
                                        evaluations(100'000), quiet, stop.get_token());
  EXPECT_TRUE(result.strategy.is_complete());
}

// All that is tried counts, also where it is about which devices hold replicas; one batch at most
// is under way when it is stopped.
TEST(AutoDist, CountsAndStopsTheChoiceOfReplicas) {
  struct Counting final : Evaluator {
    explicit Counting(const Problem& problem)
        : Evaluator(*problem.cluster), inner(make_simulating_evaluator(problem, 1)) {}
    std::vector<Score> score(std::span<const CompleteStrategy> strategies) override {
      count += std::ssize(strategies);
      if (stop_after > 0 && count >= stop_after) stop.request_stop();
      return inner->score(strategies);
    }
    std::unique_ptr<Evaluator> inner;
    std::int64_t count = 0, stop_after = 0;
    std::stop_source stop;
  };
  const Problem problem =
      make_problem(toy::chain({64, 4096, 4096, 64}, 64), toy::small_cluster(2, 6), {});
  Observer quiet;
  for (const std::int64_t budget : {1, 7, 30, 45}) {
    Counting counting(problem);
    const PlanResult result =
        registry()
            .planner("autodist")
            ->plan(problem, counting, evaluations(budget), quiet, {}, nullptr);
    EXPECT_EQ(counting.count, budget);
    EXPECT_EQ(result.tree->iterations, budget);
  }
  Counting counting(problem);
  counting.stop_after = 1;
  registry()
      .planner("autodist")
      ->plan(problem, counting, evaluations(100'000), quiet, counting.stop.get_token(), nullptr);
  EXPECT_LT(counting.count, 50);  // the builders'
}

// The same trials again, wherever it was stopped; what is tried then may be other than without.
TEST(AutoDist, GoesOnInTheChoiceOfReplicas) {
  const Problem problem =
      make_problem(toy::chain({64, 4096, 4096, 64}, 64), toy::small_cluster(2, 6), {});
  PlannerOptions options = evaluations(60);
  options.floor = false;
  for (const std::int64_t first : {1, 25, 31, 47}) {
    options.iterations = first;
    const PlanResult begun = plan(problem, options);
    const auto stored = std::make_shared<SearchTree>(parse_search_tree(serialise(*begun.tree)));
    options.iterations = 0;
    const PlanResult same = plan(problem, options, stored);
    EXPECT_EQ(same.strategy, begun.strategy);
    EXPECT_EQ(same.tree->record, begun.tree->record);
    options.iterations = 60 - first;
    const PlanResult whole = plan(problem, options, stored);
    EXPECT_EQ(whole.tree->iterations, 60);
    EXPECT_FALSE(begun.score.better_than(whole.score));
  }
}

TEST(AutoDist, BuildersThatDidNotFitAreTriedWhenItGoesOn) {
  const Problem problem =
      make_problem(toy::chain({64, 4096, 4096, 64}, 64), toy::small_cluster(2, 6), {});
  const auto best_builder = [](const PlanResult& result) {
    return std::ranges::find(result.facts, "Best builder", &PlanResult::Fact::name)->value;
  };
  PlannerOptions options = evaluations(150);
  options.floor = false;
  const std::string all = best_builder(plan(problem, options));
  options.iterations = 1;
  const PlanResult one = plan(problem, options);
  EXPECT_NE(best_builder(one), all);
  options.iterations = 149;
  const auto stored = std::make_shared<SearchTree>(parse_search_tree(serialise(*one.tree)));
  const PlanResult whole = plan(problem, options, stored);
  EXPECT_EQ(best_builder(whole), all);
  options.iterations = 0;
  EXPECT_EQ(plan(problem, options, whole.tree).strategy, whole.strategy);
}

TEST(AutoDist, IsStoppedBeforeItHasGoneOn) {
  const Problem problem =
      make_problem(toy::chain({64, 4096, 4096, 64}, 64), toy::small_cluster(2, 6), {});
  PlannerOptions options = evaluations(40);
  options.floor = false;
  const PlanResult begun = plan(problem, options);
  const auto stored = std::make_shared<SearchTree>(parse_search_tree(serialise(*begun.tree)));
  std::stop_source stop;
  stop.request_stop();
  EXPECT_NO_THROW(plan(problem, options, stored, stop.get_token()));
}

// What a run that is killed leaves behind.
TEST(AutoDist, TellsItsStateWhileItRuns) {
  struct Keeper final : Observer {
    void on_tree(std::shared_ptr<const SearchTree> tree) override { last = std::move(tree); }
    std::shared_ptr<const SearchTree> last;
  } keeper;
  const Problem problem = small_problem();
  PlannerOptions options;
  options.budget_seconds = 2;
  const PlanResult whole =
      run_planner(*registry().planner("autodist"), problem, options, keeper, {});
  ASSERT_NE(keeper.last, nullptr);
  EXPECT_LE(keeper.last->iterations, whole.tree->iterations);
  ASSERT_TRUE(whole.tree->record);
  EXPECT_EQ(whole.tree->record->planner, "autodist 5");
  EXPECT_GE(plan(problem, evaluations(10), keeper.last).tree->iterations,
            keeper.last->iterations + 1);
}

TEST(AutoDist, CopesWithNothingToSynchronise) {
  for (const auto& [fast, slow] : {std::pair(1, 0), {2, 0}}) {
    const Problem trained = make_problem(toy::chain(1, 8, 16), toy::small_cluster(fast, slow), {});
    EXPECT_TRUE(plan(trained, evaluations(40)).score.feasible);
    ProblemOptions forward;
    forward.training = false;
    const Problem inference =
        make_problem(toy::chain(2, 8, 16), toy::small_cluster(fast, slow), forward);
    EXPECT_TRUE(plan(inference, evaluations(40)).score.feasible);
  }
}

TEST(AutoDist, RefusesOptions) {
  const Problem problem = small_problem();
  for (const auto& [key, value] : std::map<std::string, std::string>{{"builder", "magic"},
                                                                     {"replicas", "many"},
                                                                     {"sampler", "both"},
                                                                     {"learned", "perhaps"},
                                                                     {"changes", "1.5"},
                                                                     {"trials", "0"},
                                                                     {"proposals", "-3"},
                                                                     {"accuracy", "nan"},
                                                                     {"chunk", "0"},
                                                                     {"bucket", "-1"},
                                                                     {"variant", "other"},
                                                                     {"rate", "fast"},
                                                                     {"unknown", "1"}})
    EXPECT_THROW(plan(problem, evaluations(10, {{key, value}})), InputError) << key;
}

}  // namespace
}  // namespace strato::autodist
