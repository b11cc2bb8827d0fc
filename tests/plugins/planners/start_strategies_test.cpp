// PlannerOptions::seeds: what searches make of strategies that their caller knows already.
#include <gtest/gtest.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/search/evaluate/baselines.h"
#include "core/search/evaluate/outcome.h"
#include "core/search/run/run_planner.h"
#include "core/search/tree/search_tree.h"
#include "tests/plugins/shipped.h"

namespace strato {
namespace {

Problem small_problem() {
  return make_problem(toy::chain({64, 512, 2048, 256, 64}, 64), toy::small_cluster(2, 2), {});
}

std::vector<OpId> updates_of(const Problem& problem) {
  std::vector<OpId> updates;
  for (std::size_t t = 0; t < problem.graph->tensor_count(); ++t)
    if (const OpId update = problem.graph->update_of(TensorId(t)); update.valid())
      updates.push_back(update);
  std::ranges::sort(updates);
  return updates;
}

// Data parallelism with every variable in one merge group.
Strategy merged(const Problem& problem) {
  Strategy strategy = data_parallel(problem);
  for (const OpId update : updates_of(problem)) {
    SyncPart part;
    part.merge_group = 0;
    strategy.variables.push_back({update, 0, {part}});
  }
  return strategy;
}

// What no search makes on its own.
Strategy odd(const Problem& problem) {
  Strategy strategy = data_parallel(problem);
  for (std::size_t g = 0; g < strategy.groups.size(); ++g)
    if (g % 2 == 1) strategy.groups[GroupId(g)] = decision_on_device(DeviceId(g % 4));
  for (std::size_t op = 0; op < problem.graph->op_count(); ++op)
    strategy.priorities.push_back(static_cast<std::int32_t>(op % 3));
  return strategy;
}

PlanResult planned(const std::string& planner, const Problem& problem, std::vector<Strategy> seeds,
                   std::int64_t iterations = 12) {
  PlannerOptions options;
  options.iterations = iterations;
  options.seeds = std::move(seeds);
  options.floor = false;
  Observer quiet;
  return run_planner(*registry().planner(planner), problem, options, quiet, {});
}

std::vector<std::string> planners() {
  std::vector<std::string> names;
  for (const PluginInfo& info : registry().list(PluginKind::Planner))
    if (info.effort != Effort::Given) names.push_back(info.name);
  return names;
}

// Those that search, of all that are shipped.
std::vector<std::string> searches() {
  const std::vector<std::string> wanted = {"auto", "autodist", "gdp",     "hdp",
                                           "mcmc", "mcts",     "placeto", "tag"};
  std::vector<std::string> there;
  for (const std::string& name : planners())
    if (std::ranges::find(wanted, name) != wanted.end()) there.push_back(name);
  return there;
}

TEST(StartStrategies, ASearchDoesNotLoseThem) {
  const Problem problem = small_problem();
  const std::vector<Strategy> seeds = {merged(problem), odd(problem)};
  for (const std::string& planner : searches()) {
    const PlanResult result = planned(planner, problem, seeds);
    for (const Strategy& seed : seeds)
      EXPECT_FALSE(simulate_strategy(problem, seed).score.better_than(result.score)) << planner;
    EXPECT_EQ(simulate_strategy(problem, result.strategy).score.step_time, result.score.step_time)
        << planner;
  }
}

TEST(StartStrategies, OtherPlannersDoNotMind) {
  const Problem problem = small_problem();
  const std::vector<std::string> searching = searches();
  for (const std::string& planner : planners()) {
    if (std::ranges::find(searching, planner) != searching.end()) continue;
    PlannerOptions options;
    options.budget_seconds = 0.5;
    options.seeds = {merged(problem), odd(problem)};
    Observer quiet;
    const PlanResult result =
        run_planner(*registry().planner(planner), problem, options, quiet, {});
    EXPECT_TRUE(result.strategy.is_complete()) << planner;
  }
}

TEST(StartStrategies, AutoDistGoesOnFromThem) {
  const Problem problem = small_problem();
  const PlanResult first = planned("autodist", problem, {}, 80);
  ASSERT_FALSE(first.strategy.variables.empty());
  const PlanResult next = planned("autodist", problem, {first.strategy}, 40);
  EXPECT_FALSE(first.score.better_than(next.score));
  const PlanResult again = planned("autodist", problem, {first.strategy}, 40);
  EXPECT_EQ(next.strategy, again.strategy);
}

// What changes the results of training is no answer of a search that keeps them, nor where it
// begins.
TEST(StartStrategies, EverySearchLeavesOutWhatIsLossyOrStale) {
  const Problem problem = small_problem();
  Strategy lossy = data_parallel(problem), stale = lossy;
  for (const OpId update : updates_of(problem)) {
    SyncPart half;
    half.encoding = Encoding::Half;
    lossy.variables.push_back({update, 0, {half}});
    SyncPart server;
    server.synchroniser = Synchroniser::Ps;
    server.server = DeviceId(0);
    VariableSync late{update, 0, {server}};
    late.staleness = 3;
    stale.variables.push_back(late);
  }
  const std::vector<std::string> searching = searches();
  for (const std::string& planner : planners()) {
    if (std::ranges::find(searching, planner) == searching.end()) continue;
    const PlanResult result = planned(planner, problem, {lossy, merged(problem), stale});
    for (const VariableSync& variable : result.strategy.variables) {
      EXPECT_EQ(variable.staleness, 0) << planner;
      for (const SyncPart& part : variable.parts) EXPECT_FALSE(is_lossy(part.encoding)) << planner;
    }
    EXPECT_FALSE(simulate_strategy(problem, merged(problem)).score.better_than(result.score))
        << planner << " has lost the other one";
    const auto told =
        std::ranges::find(result.facts, "Start strategies left out", &PlanResult::Fact::name);
    ASSERT_NE(told, result.facts.end()) << planner;
    EXPECT_TRUE(told->value.starts_with("2: ")) << planner;
  }
}

// A run that began with other start strategies is another run.
TEST(StartStrategies, AutoDistGoesOnOnlyWithTheSame) {
  const Problem problem = small_problem();
  const PlanResult first = planned("autodist", problem, {merged(problem)}, 30);
  PlannerOptions options;
  options.iterations = 10;
  options.seeds = {merged(problem)};
  Observer quiet;
  const auto plan = [&] {
    return run_planner(*registry().planner("autodist"), problem, options, quiet, {}, first.tree);
  };
  EXPECT_EQ(plan().tree->iterations, 40);
  options.seeds.clear();
  EXPECT_THROW(plan(), InputError);
}

}  // namespace
}  // namespace strato
