// Searches whose evaluations are runs.
#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <stdexcept>

#include "core/base/error.h"
#include "core/launch/measured/tune.h"
#include "core/search/evaluate/baselines.h"
#include "core/search/tree/search_tree.h"
#include "tests/core/launch/measured/real_cluster.h"
#include "tests/core/search/toy.h"

namespace strato {
namespace {

Problem trial_problem(std::int64_t memory = 1 << 30) {
  return make_problem(toy::chain({64, 512, 256}, 64), toy::mixed_cluster(2, 1, {}, memory), {});
}

// Tries the simple baselines, twice over, as often as it may.
class Lister final : public Planner {
 public:
  std::string name() const override { return "lister"; }
  std::vector<OptionHelp> options() const override { return {{"pace", "1", "of nothing"}}; }
  PlanResult plan(const Problem& problem, Evaluator& evaluator, const PlannerOptions&,
                  Observer& observer, std::stop_token stop,
                  std::shared_ptr<const SearchTree>) override {
    PlanResult result;
    for (int round = 0; round < 2; ++round) {
      for (const Baseline& baseline : simple_baselines(problem)) {
        if (stop.stop_requested()) return result;
        const Score score = evaluator.evaluate(baseline.strategy);
        ++result.evaluations;
        if (result.evaluations > 1 && !score.better_than(result.score)) continue;
        result.strategy = baseline.strategy;
        result.score = score;
        observer.on_improvement(baseline.strategy, score, {});
      }
    }
    result.curves = {{"t", "n", "x", "y", {{1, 2}}}};
    return result;
  }
};

// Measures `factor` times what is predicted; fails where it is told to.
struct Workers {
  PlanRun run(const TunePlan& plan) {
    const auto number = static_cast<std::size_t>(plan.round);
    numbers.push_back(plan.round);
    EXPECT_TRUE(seen.insert(plan.strategy.digest()).second) << "was run twice";
    PlanRun came;
    if (number == stops_at) came.state = PlanRun::State::Stopped;
    if (failing.contains(number)) {
      came.state = PlanRun::State::Failed;
      came.problem = "rank 1: timed out";
    }
    came.result.step_time = Nanos(plan.predicted.score.step_time.value * 3);
    return came;
  }
  TrialsSetting setting() {
    TrialsSetting made;
    made.run = [this](const TunePlan& plan) { return run(plan); };
    made.report = [this](const Trial& trial) { reported.push_back(trial); };
    return made;
  }
  std::set<std::size_t> failing;
  std::size_t stops_at = 1000;
  std::vector<int> numbers;
  std::vector<Trial> reported;
  std::set<Digest> seen;
};

TrialsResult tried(const Problem& problem, const TrialsSetting& setting,
                   const PlannerOptions& options = {}) {
  Lister lister;
  Observer nobody;
  return plan_by_trials(problem, lister, options, setting, nobody, {});
}

TEST(Trials, AreRunOnceAndScoredByWhatWasMeasured) {
  const Problem problem = trial_problem();
  Workers workers;
  const TrialsResult result = tried(problem, workers.setting());
  EXPECT_EQ(workers.numbers.size(), result.trials.size());
  EXPECT_EQ(workers.reported.size(), result.trials.size());
  ASSERT_TRUE(result.start);
  Nanos least = *result.start;
  for (const Trial& trial : result.trials) {
    EXPECT_EQ(trial.score.step_time.value, 3 * trial.predicted.step_time.value);
    least = std::min(least, trial.score.step_time);
  }
  EXPECT_EQ(result.plan.score.step_time, least);
  EXPECT_EQ(result.trials[0].strategy, complete(data_parallel(problem), *problem.cluster));
  EXPECT_EQ(result.plan.curves.size(), 1U);
  EXPECT_EQ(result.failed(), 0);
}

TEST(Trials, ThatFailAreInfeasibleAndStopNothing) {
  const Problem problem = trial_problem();
  Workers workers;
  workers.failing = {0, 2};
  const TrialsResult result = tried(problem, workers.setting());
  EXPECT_FALSE(result.start);
  EXPECT_EQ(result.failed(), 2);
  EXPECT_EQ(result.trials[2].problem, "rank 1: timed out");
  EXPECT_TRUE(result.plan.score.feasible);
  EXPECT_GT(result.trials.size(), 3U);
}

TEST(Trials, ThatAllFailLeaveNothingFeasible) {
  const Problem problem = trial_problem();
  Workers workers;
  for (std::size_t i = 0; i < 100; ++i) workers.failing.insert(i);
  const TrialsResult result = tried(problem, workers.setting());
  EXPECT_FALSE(result.plan.score.feasible);
  EXPECT_EQ(result.failed(), std::ssize(result.trials));
}

TEST(Trials, AMeasurementOfNothingIsAFailure) {
  const Problem problem = trial_problem();
  TrialsSetting setting;
  setting.run = [](const TunePlan&) { return PlanRun(); };
  const TrialsResult result = tried(problem, setting);
  EXPECT_EQ(result.failed(), std::ssize(result.trials));
  EXPECT_EQ(result.trials[0].problem, "measured nothing");
}

TEST(Trials, WhatIsNotThoughtToFitIsNotRun) {
  const Problem problem = trial_problem(1000);
  Workers workers;
  const TrialsResult result = tried(problem, workers.setting());
  EXPECT_TRUE(workers.numbers.empty());
  EXPECT_FALSE(result.plan.score.feasible);
  EXPECT_FALSE(result.trials.empty());
}

TEST(Trials, KnownOnesAreNotRunAgain) {
  const Problem problem = trial_problem();
  Workers first, second;
  const TrialsResult whole = tried(problem, first.setting());
  ASSERT_GE(whole.trials.size(), 4U);
  TrialsSetting setting = second.setting();
  setting.known = [&](const Strategy& strategy) -> std::optional<Nanos> {
    for (std::size_t i = 0; i < 3; ++i)
      if (whole.trials[i].strategy == strategy)
        return i == 1 ? Nanos(0) : whole.trials[i].score.step_time;
    return std::nullopt;
  };
  const TrialsResult rest = tried(problem, setting);
  ASSERT_EQ(rest.trials.size(), whole.trials.size());
  EXPECT_EQ(second.numbers.size(), whole.trials.size() - 3);
  EXPECT_TRUE(rest.trials[0].known);
  EXPECT_FALSE(rest.trials[1].score.feasible);  // failed before
  EXPECT_EQ(rest.trials[1].problem, "failed before");
  EXPECT_EQ(rest.trials[2].score.step_time, whole.trials[2].score.step_time);
  EXPECT_FALSE(rest.trials[3].known);
}

TEST(Trials, StoppingInTheMiddleKeepsTheBest) {
  const Problem problem = trial_problem();
  Workers workers;
  workers.stops_at = 2;
  const TrialsResult result = tried(problem, workers.setting());
  EXPECT_TRUE(result.stopped);
  EXPECT_EQ(result.trials.size(), 2U);
  EXPECT_TRUE(result.plan.score.feasible);
  EXPECT_TRUE(result.plan.strategy.is_complete());
  Workers at_once;
  at_once.stops_at = 0;
  const TrialsResult nothing = tried(problem, at_once.setting());
  EXPECT_TRUE(nothing.stopped);
  EXPECT_TRUE(nothing.trials.empty());
  EXPECT_FALSE(nothing.plan.score.feasible);
}

// Has bounds, and says what it was told of them.
class Bounded final : public Planner {
 public:
  std::string name() const override { return "bounded"; }
  std::vector<OptionHelp> options() const override { return {{"bounds", "true", ""}}; }
  PlanResult plan(const Problem& problem, Evaluator& evaluator, const PlannerOptions& options,
                  Observer&, std::stop_token, std::shared_ptr<const SearchTree>) override {
    told = options.set.contains("bounds") ? options.set.at("bounds") : "";
    PlanResult result;
    result.strategy = data_parallel(problem);
    result.score = evaluator.evaluate(result.strategy);
    return result;
  }
  std::string told;
};

TEST(Trials, BoundsOfTheCostModelDoNotCount) {
  const Problem problem = trial_problem();
  Observer quiet;
  for (const bool asked : {false, true}) {
    Workers workers;
    Bounded planner;
    PlannerOptions options;
    if (asked) options.set["bounds"] = "true";
    plan_by_trials(problem, planner, options, workers.setting(), quiet, {});
    EXPECT_EQ(planner.told, "false");
  }
}

TEST(Trials, WhatCallbacksThrowComesThrough) {
  const Problem problem = trial_problem();
  TrialsSetting setting;
  setting.run = [](const TunePlan&) -> PlanRun { throw std::runtime_error("no such launcher"); };
  EXPECT_THROW(tried(problem, setting), std::runtime_error);
  PlannerOptions unknown;
  unknown.set = {{"colour", "red"}};
  EXPECT_THROW(tried(problem, Workers().setting(), unknown), InputError);
}

TEST(Trials, NoiseOfTheSimulatorFollowsFromSeedAndStrategy) {
  const Problem problem = trial_problem();
  const auto with = [&](double spread, std::uint64_t seed) {
    TrialsSetting setting;
    setting.run = simulated_trials(spread, seed);
    return tried(problem, setting);
  };
  const TrialsResult exact = with(0, 1), noisy = with(0.1, 1), same = with(0.1, 1),
                     other = with(0.1, 2);
  double square = 0;
  for (std::size_t i = 0; i < exact.trials.size(); ++i) {
    EXPECT_EQ(exact.trials[i].score.step_time, exact.trials[i].predicted.step_time);
    EXPECT_EQ(noisy.trials[i].score.step_time, same.trials[i].score.step_time);
    EXPECT_NE(noisy.trials[i].score.step_time, other.trials[i].score.step_time);
    const double error =
        std::log(noisy.trials[i].score.step_time / noisy.trials[i].predicted.step_time);
    EXPECT_LT(std::abs(error), 0.6);
    square += error * error;
  }
  EXPECT_GT(square, 0);
}

}  // namespace
}  // namespace strato
