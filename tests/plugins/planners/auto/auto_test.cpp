// The portfolio: never worse than any planner or seed, the same every time, and honest about who
// found what.
#include <gtest/gtest.h>

#include <chrono>

#include "core/base/error.h"
#include "core/search/evaluate/baselines.h"
#include "core/search/evaluate/outcome.h"
#include "core/search/run/run_planner.h"
#include "core/search/tree/search_tree.h"
#include "core/search/tree/steer.h"
#include "tests/plugins/shipped.h"

namespace strato {
namespace {

// LibTorch takes a second to load: only where the test is about all planners.
PlannerOptions quick_options(std::int64_t iterations) {
  PlannerOptions options;
  options.iterations = iterations;
  options.threads = 1;
  for (const PluginInfo& plugin : registry().list(PluginKind::Planner))
    if (plugin.name == "tag") options.set["without"] = "tag";
  return options;
}

PlanResult plan(const std::string& planner, const Problem& problem, const PlannerOptions& options,
                std::shared_ptr<const SearchTree> resume = nullptr) {
  Observer quiet;
  return run_planner(*registry().planner(planner), problem, options, quiet, {}, std::move(resume));
}

TEST(Auto, is_never_worse_than_any_planner_at_equal_iterations) {
  for (const auto& [model, batch, cluster] :
       {std::tuple{"lenet", 64, "tag-2x1080ti"}, std::tuple{"alexnet", 256, "tag-testbed"}}) {
    const Problem problem = sample(model, batch, cluster);
    PlannerOptions options;
    options.iterations = 120;
    const PlanResult best = plan("auto", problem, options);
    EXPECT_EQ(simulate_strategy(problem, best.strategy, false).score.step_time,
              best.score.step_time);
    for (const PluginInfo& plugin : registry().list(PluginKind::Planner)) {
      if (plugin.effort >= Effort::Learning) continue;
      try {
        const PlanResult other = plan(plugin.name, problem, options);
        EXPECT_FALSE(other.score.better_than(best.score)) << plugin.name << " on " << model;
      } catch (const InputError&) {  // it does not serve this problem
      }
    }
  }
}

TEST(Auto, repeats_itself_whatever_the_threads) {
  const Problem problem = sample("alexnet", 256, "tag-testbed");
  PlannerOptions options = quick_options(200);
  const PlanResult first = plan("auto", problem, options);
  options.threads = 3;
  const PlanResult again = plan("auto", problem, options);
  EXPECT_EQ(again.strategy, first.strategy);
  EXPECT_EQ(again.note, first.note);
  EXPECT_EQ(again.evaluations, first.evaluations);
  EXPECT_EQ(serialise(*again.tree), serialise(*first.tree));
}

TEST(Auto, says_who_found_the_start_and_who_improved_it) {
  const Problem problem = sample("alexnet", 256, "tag-testbed");
  const PlanResult result = plan("auto", problem, quick_options(200));
  EXPECT_NE(result.note.find("start: "), std::string::npos) << result.note;
  std::vector<std::string> names;
  for (const PlanResult::Fact& fact : result.facts) names.push_back(fact.name);
  EXPECT_NE(std::ranges::find(names, "start"), names.end());
  EXPECT_NE(std::ranges::find(names, "planners that ran"), names.end());
}

TEST(Auto, a_seed_is_never_lost) {
  const Problem problem = sample("alexnet", 256, "tag-testbed");
  PlannerOptions options = quick_options(400);
  const PlanResult good = plan("mcts", problem, [] {
    PlannerOptions more;
    more.iterations = 3000;
    more.seed = 7;
    return more;
  }());
  options.iterations = 8;
  options.seeds = {good.strategy};
  EXPECT_FALSE(good.score.better_than(plan("auto", problem, options).score));
}

TEST(Auto, goes_on_from_its_tree_and_respects_a_person) {
  const Problem problem = sample("alexnet", 256, "tag-testbed");
  const PlannerOptions options = quick_options(160);
  const PlanResult first = plan("auto", problem, options);
  ASSERT_NE(first.tree, nullptr);
  const PlanResult more = plan("auto", problem, options, first.tree);
  EXPECT_GT(more.tree->iterations, first.tree->iterations);
  SearchTree tree = *first.tree;
  const Decision wish = decision_on_device(DeviceId(3));
  pin(tree, GroupId(1), wish);
  const PlanResult pinned =
      plan("auto", problem, options, std::make_shared<const SearchTree>(tree));
  EXPECT_EQ(pinned.strategy.groups[GroupId(1)], wish);
}

TEST(Auto, keeps_to_a_budget) {
  const Problem problem = sample("alexnet", 256, "tag-testbed");
  PlannerOptions options = quick_options(800);
  options.budget_seconds = 1;
  const auto start = std::chrono::steady_clock::now();
  const PlanResult result = plan("auto", problem, options);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
  EXPECT_TRUE(result.score.feasible);
}

TEST(Auto, a_stop_before_it_begins_gives_what_there_is) {
  const Problem problem = sample("lenet", 64, "tag-2x1080ti");
  std::stop_source stop;
  stop.request_stop();
  Observer quiet;
  const PlanResult result = run_planner(*registry().planner("auto"), problem, quick_options(400),
                                        quiet, stop.get_token());
  EXPECT_TRUE(result.strategy.is_complete());
}

// What an observer is told only gets better, and ends with the result.
TEST(Auto, reports_only_improvements) {
  struct Watch final : Observer {
    std::optional<Score> best;
    void on_improvement(const Strategy& strategy, const Score& score, const Progress&) override {
      EXPECT_TRUE(strategy.is_complete());
      EXPECT_TRUE(!best || score.better_than(*best));
      best = score;
    }
    void on_progress(const Progress& progress) override {
      EXPECT_GE(progress.iterations, before);
      EXPECT_LE(progress.iterations, 200);
      before = progress.iterations;
    }
    std::int64_t before = 0;
  } watch;
  const Problem problem = sample("alexnet", 256, "tag-testbed");
  const PlanResult result =
      run_planner(*registry().planner("auto"), problem, quick_options(200), watch, {});
  ASSERT_TRUE(watch.best);
  EXPECT_EQ(watch.best->step_time, result.score.step_time);
}

TEST(Auto, wrong_options_are_named) {
  const Problem problem = sample("lenet", 64, "tag-2x1080ti");
  PlannerOptions options = quick_options(8);
  options.set = {{"without", "tagg"}};
  EXPECT_THROW(plan("auto", problem, options), InputError);
  options.set = {{"improve", "-1"}};
  EXPECT_THROW(plan("auto", problem, options), InputError);
}

}  // namespace
}  // namespace strato
