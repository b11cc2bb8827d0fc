// FlexFlow's search as it is shipped.
#include <gtest/gtest.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/schedule/list/placement.h"
#include "core/search/evaluate/baselines.h"
#include "core/search/evaluate/outcome.h"
#include "core/search/run/run_planner.h"
#include "tests/plugins/shipped.h"

namespace strato {
namespace {

PlanResult mcmc(const Problem& problem, PlannerOptions options = {}, Observer* observer = nullptr,
                std::stop_token stop = {}) {
  Observer quiet;
  options.floor = false;
  return run_planner(*registry().planner("mcmc"), problem, options,
                     observer != nullptr ? *observer : quiet, std::move(stop));
}

PlannerOptions with(std::int64_t iterations, std::uint64_t seed = 1, int threads = 0) {
  PlannerOptions options;
  options.iterations = iterations;
  options.seed = seed;
  options.threads = threads;
  return options;
}

TEST(Mcmc, is_never_worse_than_where_it_starts) {
  for (const char* model : {"lenet", "vgg19"})
    for (const char* cluster : {"tag-testbed", "tag-cloud"}) {
      const Problem problem = sample(model, 64, cluster);
      const PlanResult result = mcmc(problem, with(200));
      for (const Baseline& baseline : simple_baselines(problem))
        EXPECT_FALSE(simulate_strategy(problem, baseline.strategy).score.better_than(result.score))
            << model << " " << cluster << " " << baseline.name;
      EXPECT_EQ(result.score.step_time,
                simulate_strategy(problem, result.strategy).score.step_time);
      EXPECT_NO_THROW(validate(result.strategy, *problem.grouping, *problem.cluster));
    }
}

TEST(Mcmc, depends_on_the_seed_but_not_on_threads) {
  const Problem problem = sample("vgg19", 96, "tag-testbed");
  const PlanResult one = mcmc(problem, with(300, 1, 1)), four = mcmc(problem, with(300, 1, 4));
  EXPECT_EQ(one.strategy, four.strategy);
  EXPECT_EQ(one.note, four.note);
  EXPECT_NE(one.strategy, mcmc(problem, with(300, 2, 1)).strategy);
}

TEST(Mcmc, beats_data_parallelism_on_mixed_devices) {
  const Problem problem = sample("vgg19", 96, "tag-testbed");
  EXPECT_LT(6 * mcmc(problem, with(800)).score.step_time,
            5 * simulate_strategy(problem, data_parallel(problem)).score.step_time);
}

TEST(Mcmc, keeps_its_budget) {
  const Problem problem = sample("lenet", 64, "tag-testbed");
  for (std::int64_t iterations : {0, 1, 17, 100}) {
    std::int64_t last = 0;
    struct Counter final : Observer {
      explicit Counter(std::int64_t& count) : count(count) {}
      void on_progress(const Progress& progress) override { count = progress.iterations; }
      std::int64_t& count;
    } counter(last);
    const PlanResult result = mcmc(problem, with(iterations), &counter);
    EXPECT_TRUE(result.strategy.is_complete());
    EXPECT_LE(last, iterations);
    EXPECT_LE(result.evaluations, iterations + 25);
  }
}

TEST(Mcmc, observers_see_every_improvement_and_nothing_else) {
  struct Watcher final : Observer {
    void on_improvement(const Strategy& strategy, const Score& score,
                        const Progress& progress) override {
      EXPECT_TRUE(!best || score.better_than(*best));
      best = score;
      last = strategy;
      EXPECT_EQ(progress.best->step_time, score.step_time);
    }
    std::optional<Score> best;
    Strategy last;
  } watcher;
  const Problem problem = sample("alexnet", 64, "tag-testbed");
  const PlanResult result = mcmc(problem, with(300), &watcher);
  EXPECT_EQ(watcher.last, result.strategy);
  EXPECT_EQ(watcher.best->step_time, result.score.step_time);
}

TEST(Mcmc, starts_from_seeds_of_any_kind) {
  const Problem problem = sample("vgg19", 96, "tag-testbed");
  PlannerOptions options = with(40);
  options.seeds.push_back(mcmc(problem, with(800, 5)).strategy);
  const Nanos known = simulate_strategy(problem, options.seeds.front()).score.step_time;
  EXPECT_LE(mcmc(problem, options).score.step_time, known);

  // One with groups of its own: every second op elsewhere.
  std::vector<Decision> choices{decision_on_device(DeviceId(0)), decision_on_device(DeviceId(1))};
  std::vector<std::int32_t> choice_of;
  for (std::size_t i = 0; i < problem.graph->op_count(); ++i)
    choice_of.push_back(static_cast<std::int32_t>(i % 2));
  options.seeds = {strategy_by_ops(problem, choice_of, choices)};
  ASSERT_NE(options.seeds.front().grouping, nullptr);
  EXPECT_TRUE(mcmc(problem, options).strategy.is_complete());

  // A partial one.
  options.seeds = {Strategy{}};
  options.seeds.front().groups.resize(problem.grouping->size());
  EXPECT_TRUE(mcmc(problem, options).strategy.is_complete());
}

TEST(Mcmc, layers_of_their_own) {
  const Problem problem = sample("inception_v3", 64, "tag-testbed");
  PlannerOptions options = with(60);
  options.set = {{"per-op", "true"}, {"restarts", "2"}};
  const PlanResult result = mcmc(problem, options);
  const Problem own = problem_for(problem, result.strategy);
  EXPECT_GT(own.grouping->size(), problem.grouping->size());
  EXPECT_NO_THROW(validate(result.strategy, *own.grouping, *own.cluster));
  EXPECT_FALSE(simulate_strategy(problem, data_parallel(problem)).score.better_than(result.score));
}

TEST(Mcmc, one_device_has_one_configuration) {
  const Problem problem = toy::chain_problem(toy::small_cluster(1, 0), 3);
  EXPECT_TRUE(mcmc(problem, with(1'000'000)).strategy.is_complete());
}

TEST(Mcmc, ends_before_a_large_budget_when_nothing_improves) {
  const Problem problem = toy::chain_problem(toy::small_cluster(2, 0), 2);
  EXPECT_LT(mcmc(problem, with(10'000'000)).evaluations, 100'000);
}

TEST(Mcmc, stops_when_it_is_asked_to) {
  const Problem problem = sample("vgg19", 96, "tag-testbed");
  std::stop_source stop;
  stop.request_stop();
  EXPECT_TRUE(mcmc(problem, with(1'000'000), nullptr, stop.get_token()).strategy.is_complete());
  PlannerOptions options;
  options.budget_seconds = 0.2;
  EXPECT_TRUE(mcmc(problem, options).strategy.is_complete());
}

TEST(Mcmc, bad_options_are_refused) {
  const Problem problem = toy::chain_problem(toy::small_cluster(2, 0), 2);
  for (const auto& [key, value] : std::map<std::string, std::string>{
           {"beta", "-1"}, {"restarts", "-1"}, {"per-op", "maybe"}, {"alpha", "1"}}) {
    PlannerOptions options = with(10);
    options.set = {{key, value}};
    EXPECT_THROW(mcmc(problem, options), InputError) << key;
  }
}

}  // namespace
}  // namespace strato
