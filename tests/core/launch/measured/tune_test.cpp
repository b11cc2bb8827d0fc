// FastT's loop on simulated clusters that are not what they are said to be.
#include "core/launch/measured/tune.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <stdexcept>

#include "core/cost/model/measured_cost_model.h"
#include "core/cost/value/profile.h"
#include "core/search/evaluate/baselines.h"
#include "core/search/evaluate/outcome.h"
#include "tests/core/launch/measured/real_cluster.h"
#include "tests/core/search/toy.h"

namespace strato {
namespace {

using toy::Truth;
using Verdict = TuneRound::Verdict;
using End = TuneResult::End;

constexpr int kFast = 2, kSlow = 1;

Problem problem_on(std::shared_ptr<const Cluster> cluster) {
  ProblemOptions options;
  options.optimizer = Optimizer::Sgd;
  options.grouping.max_groups = 6;
  return make_problem(toy::chain({1024, 2048, 1536, 2560, 1280, 512}, 1536), std::move(cluster),
                      options);
}

struct Tuning {
  explicit Tuning(const Truth& truth, std::int64_t memory = 1 << 30)
      : problem(problem_on(toy::mixed_cluster(kFast, kSlow, {}, memory))),
        real(problem, toy::mixed_cluster(kFast, kSlow, truth, memory)) {
    options.planner.threads = 1;
  }

  TuneResult run(Planner& planner) {
    return run(planner, [&](const TunePlan& plan) { return real.run(plan); });
  }
  TuneResult run(Planner& planner, const RunPlan& callback) {
    Observer nobody;
    return tune(
        problem, planner, options, callback,
        [&](const TuneResult& so_far) {
          reported.push_back(so_far.rounds.size());
          if (so_far.best) bests.push_back(so_far.best_measured);
        },
        nobody, stop.get_token());
  }
  TuneResult run() { return run(greedy); }

  // How far the learned costs of the round's tasks are from the true ones.
  double error_of(const TuneResult& result, const TunePlan& plan) const {
    const auto learned = make_cost_model(
        problem.graph, problem.cluster, {nullptr, std::make_shared<const Profile>(result.profile)});
    const Program& program = *plan.predicted.program;
    return change_of_times(*retimed(program, *plan.problem.cost, real.cost()),
                           *retimed(program, *plan.problem.cost, *learned));
  }

  Problem problem;
  toy::RealCluster real;
  TuneOptions options;
  toy::Greedy greedy;
  std::stop_source stop;
  std::vector<std::size_t> reported;
  std::vector<Nanos> bests;
};

// What holds whatever the cluster, the planner and the noise.
void expect_sound(const Tuning& tuning, const TuneResult& result) {
  EXPECT_LE(static_cast<int>(result.rounds.size()), std::max(tuning.options.rounds, 0));
  EXPECT_TRUE(std::is_sorted(tuning.bests.rbegin(), tuning.bests.rend())) << "the best got slower";
  ASSERT_EQ(tuning.reported.size(), result.rounds.size());
  EXPECT_EQ(result.first.has_value(), result.best.has_value());
  Nanos least(std::numeric_limits<std::int64_t>::max());
  for (std::size_t i = 0; i < result.rounds.size(); ++i) {
    const TuneRound& round = result.rounds[i];
    EXPECT_EQ(tuning.reported[i], i + 1);
    EXPECT_EQ(round.plan.round, static_cast<int>(i));
    EXPECT_TRUE(round.plan.predicted.score.feasible);
    EXPECT_GE(round.change, 0);
    if (round.verdict == Verdict::Failed) {
      EXPECT_EQ(round.measured, Nanos(0));
      continue;
    }
    EXPECT_TRUE(round.verdict != Verdict::Kept || round.measured < least);
    EXPECT_TRUE(round.verdict != Verdict::RolledBack || round.measured >= least);
    least = std::min(least, round.measured);
  }
  if (!result.best) return;
  EXPECT_EQ(result.rounds[*result.best].verdict, Verdict::Kept);
  EXPECT_EQ(result.best_measured, least);
  EXPECT_LE(result.best_measured, result.rounds[*result.first].measured);
}

TEST(Tune, FindsOutThatAGpuIsSlowerThanSaidAndStopsWhenItKnows) {
  Tuning tuning({.slow = 0.1});
  const TuneResult result = tuning.run();
  expect_sound(tuning, result);
  EXPECT_EQ(result.end, End::Stable);
  ASSERT_TRUE(result.best);
  EXPECT_EQ(result.rounds[0].plan.made_by, "dp-allreduce");
  EXPECT_LT(result.best_measured / result.rounds[0].measured, 0.7);
  EXPECT_GT(std::abs(result.rounds[0].error()), 0.5);
  EXPECT_GT(result.rounds[0].change, tuning.options.stable);
  EXPECT_LT(result.rounds.back().change, tuning.options.stable);
  EXPECT_LT(std::abs(result.rounds.back().error()), 0.05);
  EXPECT_LT(tuning.error_of(result, result.rounds[*result.best].plan), 0.01);
  EXPECT_EQ(tuning.real.runs, static_cast<int>(result.rounds.size()));
}

TEST(Tune, WhatIsAsSaidIsStableAtOnce) {
  Tuning tuning({});
  const TuneResult result = tuning.run();
  expect_sound(tuning, result);
  EXPECT_EQ(result.end, End::Stable);
  EXPECT_LT(result.rounds[0].change, 0.01);
  EXPECT_LE(result.rounds.size(), 2u);
}

TEST(Tune, IsSoundAndLearnsTheTruthOnAnyCluster) {
  for (std::uint64_t seed = 1; seed <= 25; ++seed) {
    Random random(seed);
    const auto factor = [&] { return std::exp2(random.uniform(-3, 2)); };
    Tuning tuning({factor(), factor(), factor()});
    const TuneResult result = tuning.run();
    SCOPED_TRACE(seed);
    expect_sound(tuning, result);
    ASSERT_TRUE(result.best);
    EXPECT_EQ(result.end, End::Stable);
    EXPECT_LT(tuning.error_of(result, result.rounds[*result.best].plan), 0.05);
  }
}

TEST(Tune, IsSoundInNoise) {
  for (std::uint64_t seed = 1; seed <= 15; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    Tuning tuning({std::exp2(random.uniform(-2, 1)), std::exp2(random.uniform(-2, 1)), 1});
    tuning.real.set_noise(0.3, seed);
    const TuneResult result = tuning.run();
    expect_sound(tuning, result);
    ASSERT_TRUE(result.best);
    EXPECT_LT(tuning.error_of(result, result.rounds.back().plan), 0.3);
  }
}

TEST(Tune, AWrongProfileToStartFromIsCorrected) {
  Tuning tuning({});
  auto wrong = std::make_shared<Profile>();
  for (std::size_t i = 0; i < tuning.problem.graph->op_count(); ++i) {
    const OpId op(i);
    if (tuning.problem.graph->op(op).view) continue;
    OpProfile profile{op_signature(*tuning.problem.graph, op), "Fast", {}};
    for (const std::int64_t samples : {64, 512, 1024, 1536}) {
      const Nanos true_time = tuning.real.cost().compute(op, GpuTypeId(0), samples);
      profile.measurements.push_back({samples, true_time * 20, Nanos(0), 1000});
    }
    if (!follows_batch(*tuning.problem.graph, op)) profile.measurements.resize(1);
    wrong->ops.push_back(profile);
  }
  *wrong = normalised(*wrong);
  tuning.options.costs.profile = wrong;
  tuning.problem.cost =
      make_cost_model(tuning.problem.graph, tuning.problem.cluster, tuning.options.costs);
  const TuneResult result = tuning.run();
  expect_sound(tuning, result);
  EXPECT_EQ(result.end, End::Stable);
  EXPECT_LT(result.rounds[0].error(), -0.5);
  EXPECT_LT(tuning.error_of(result, result.rounds[*result.best].plan), 0.05);
}

TEST(Tune, ASamePlanIsRunAgainUntilTheCostsAreStable) {
  Tuning tuning({.fast = 0.3, .slow = 0.5, .network = 0.2});
  tuning.real.set_noise(0.02, 3);
  toy::Stubborn planner([](const Problem& problem) { return data_parallel(problem); });
  const TuneResult result = tuning.run(planner);
  expect_sound(tuning, result);
  EXPECT_EQ(result.end, End::Stable);
  EXPECT_EQ(result.best, 0u);
  ASSERT_GE(result.rounds.size(), 2u);
  for (std::size_t i = 1; i < result.rounds.size(); ++i)
    EXPECT_EQ(result.rounds[i].verdict, Verdict::Again);
}

TEST(Tune, ASlowerPlanIsRolledBackAndNotRunTwice) {
  Tuning tuning({.fast = 0.5});
  toy::Stubborn planner([](const Problem& problem) {
    return on_one_device(problem, DeviceId(problem.cluster->device_count() - 1));
  });
  const TuneResult result = tuning.run(planner);
  expect_sound(tuning, result);
  EXPECT_EQ(result.best, 0u);
  int rolled_back = 0;
  for (const TuneRound& round : result.rounds) rolled_back += round.verdict == Verdict::RolledBack;
  EXPECT_EQ(rolled_back, 1);
}

TEST(Tune, FailingRoundsAreRecordedAndEndNothing) {
  Tuning tuning({.slow = 0.2});
  const TuneResult result = tuning.run(tuning.greedy, [&](const TunePlan& plan) {
    if (plan.round % 2 == 1) return tuning.real.run(plan);
    PlanRun failed;
    failed.state = PlanRun::State::Failed;
    failed.problem = "rank 1: was killed";
    return failed;
  });
  expect_sound(tuning, result);
  EXPECT_EQ(result.rounds[0].verdict, Verdict::Failed);
  EXPECT_EQ(result.rounds[0].problem, "rank 1: was killed");
  ASSERT_TRUE(result.best);
  EXPECT_EQ(result.first, 1u);
}

TEST(Tune, WhenAllFailsEachIsTriedOnce) {
  Tuning tuning({});
  tuning.options.rounds = 100;
  std::set<Digest> seen;
  const TuneResult result = tuning.run(tuning.greedy, [&](const TunePlan& plan) {
    EXPECT_TRUE(seen.insert(complete(plan.strategy, *plan.problem.cluster).digest()).second);
    PlanRun failed;
    failed.state = PlanRun::State::Failed;
    return failed;
  });
  expect_sound(tuning, result);
  EXPECT_EQ(result.end, End::Nothing);
  EXPECT_FALSE(result.best);
  EXPECT_GE(result.rounds.size(), 4u);  // the simple strategies
  EXPECT_TRUE(result.profile.empty());
}

TEST(Tune, LessMemoryThanSaidIsLearned) {
  const std::int64_t memory = [] {
    Tuning tuning({});
    const Outcome outcome = simulate_strategy(tuning.problem, data_parallel(tuning.problem));
    return outcome.timeline->devices[DeviceId(0)].peak.value + 1;
  }();
  Tuning tuning({.memory = 0.8}, memory);
  tuning.options.rounds = 20;
  const TuneResult result = tuning.run();
  expect_sound(tuning, result);
  ASSERT_FALSE(result.rounds.empty());
  EXPECT_EQ(result.rounds[0].verdict, Verdict::Failed);
  EXPECT_NE(result.rounds[0].problem.find("memory"), std::string::npos);
  for (std::size_t i = 1; i < result.rounds.size(); ++i) {
    const TunePlan& before = result.rounds[i - 1].plan;
    if (result.rounds[i - 1].verdict != Verdict::Failed) continue;
    EXPECT_NE(before.problem.cluster->digest(), result.rounds[i].plan.problem.cluster->digest());
    EXPECT_EQ(result.rounds[i].plan.problem.cluster->device(DeviceId(2)).name,
              before.problem.cluster->device(DeviceId(2)).name);
  }
}

TEST(Tune, WhereDataParallelismDoesNotFitThePlannerBegins) {
  Tuning whole({});
  const Nanos any = simulate_strategy(whole.problem, data_parallel(whole.problem)).score.step_time;
  EXPECT_GT(any, Nanos(0));
  const auto peak_of = [&](const Strategy& strategy) {
    Bytes most;
    const Outcome outcome = simulate_strategy(whole.problem, strategy);
    for (const DeviceUse& use : outcome.timeline->devices) most = std::max(most, use.peak);
    return most;
  };
  const auto spread = [](const Problem& problem) {  // one group here, one there
    Strategy strategy;
    for (std::size_t g = 0; g < problem.grouping->size(); ++g)
      strategy.groups.push_back(decision_on_device(DeviceId(g % 3)));
    return strategy;
  };
  const Bytes parallel = peak_of(data_parallel(whole.problem)),
              apart = peak_of(spread(whole.problem));
  ASSERT_LT(apart, parallel);
  Tuning tuning({}, apart.value);
  toy::Stubborn planner(spread);
  const TuneResult result = tuning.run(planner);
  expect_sound(tuning, result);
  ASSERT_TRUE(result.best);
  EXPECT_EQ(result.rounds[0].plan.made_by, "stubborn");
}

TEST(Tune, WhereNothingFitsNothingRuns) {
  Tuning tuning({}, 1000);
  const TuneResult result = tuning.run();
  EXPECT_EQ(result.end, End::Nothing);
  EXPECT_TRUE(result.rounds.empty());
  EXPECT_EQ(tuning.real.runs, 0);
}

TEST(Tune, NoRoundsAreNoRounds) {
  for (const int rounds : {0, -3}) {
    Tuning tuning({});
    tuning.options.rounds = rounds;
    const TuneResult result = tuning.run();
    expect_sound(tuning, result);
    EXPECT_EQ(result.end, End::Rounds);
    EXPECT_EQ(tuning.real.runs, 0);
  }
}

TEST(Tune, RoundsAreAtMostWhatWasAsked) {
  for (const int rounds : {1, 2, 3}) {
    Tuning tuning({.slow = 0.1});
    tuning.options.rounds = rounds;
    tuning.options.stable = 0;  // never
    const TuneResult result = tuning.run();
    expect_sound(tuning, result);
    EXPECT_EQ(result.rounds.size(), static_cast<std::size_t>(rounds));
    EXPECT_EQ(result.end, End::Rounds);
  }
}

TEST(Tune, StoppedItKeepsTheBestSoFar) {
  Tuning tuning({.slow = 0.1});
  const TuneResult result = tuning.run(tuning.greedy, [&](const TunePlan& plan) {
    if (plan.round == 0) return tuning.real.run(plan);
    PlanRun stopped;
    stopped.state = PlanRun::State::Stopped;
    return stopped;
  });
  expect_sound(tuning, result);
  EXPECT_EQ(result.end, End::Stopped);
  EXPECT_EQ(result.best, 0u);
  EXPECT_FALSE(result.profile.empty());

  Tuning never({});
  never.stop.request_stop();
  EXPECT_EQ(never.run().end, End::Stopped);
  EXPECT_EQ(never.real.runs, 0);
}

TEST(Tune, AnErrorOfTheCallbackIsTheCallers) {
  Tuning tuning({});
  EXPECT_THROW(tuning.run(tuning.greedy,
                          [](const TunePlan&) -> PlanRun { throw std::runtime_error("sbatch"); }),
               std::runtime_error);
}

TEST(Tune, SearchesStartFromTheBest) {
  Tuning tuning({.slow = 0.1});
  tuning.run();
  EXPECT_GT(tuning.greedy.seeds, 0u);
}

}  // namespace
}  // namespace strato
