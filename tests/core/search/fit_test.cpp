// What is in memory at the peak, and which small changes make a step fit.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "core/cluster/vary/changed_cluster.h"
#include "core/search/evaluate/baselines.h"
#include "core/search/evaluate/outcome.h"
#include "core/search/evaluate/simulating_evaluator.h"
#include "core/search/fit/fitting_plans.h"
#include "core/search/fit/memory_changes.h"
#include "core/sim/explain/device_peaks.h"
#include "tests/core/search/toy.h"

namespace strato {
namespace {

constexpr int kLayers = 6;
constexpr std::int64_t kWidth = 1024, kBatch = 256;

Problem trained(const std::shared_ptr<const Cluster>& cluster) {
  return make_problem(toy::chain(kLayers, kBatch, kWidth), cluster, {});
}

std::shared_ptr<const Cluster> with_memory(const std::shared_ptr<const Cluster>& cluster,
                                           Bytes memory) {
  // In two steps: one change is by a factor of a thousand at most.
  ClusterChange change;
  change.memory = std::sqrt(static_cast<double>(memory.value) /
                            static_cast<double>(cluster->gpu(DeviceId(0)).memory.value));
  return change_cluster(change_cluster(cluster, change).cluster, change).cluster;
}

Bytes peak_of(const Problem& problem, const Strategy& strategy) {
  Bytes most;
  for (const DeviceUse& use : simulate_strategy(problem, strategy, false).timeline->devices)
    most = std::max(most, use.peak);
  return most;
}

// Four GPUs that have this part of what data parallelism needs.
Problem short_of_memory(double part) {
  const auto cluster = toy::small_cluster(4, 0, true);
  const Problem roomy = trained(cluster);
  const Bytes needed = peak_of(roomy, data_parallel(roomy));
  return trained(with_memory(
      cluster, Bytes(static_cast<std::int64_t>(part * static_cast<double>(needed.value)))));
}

Bytes sum_of(const DevicePeak& peak) {
  return std::accumulate(peak.by_cause.begin(), peak.by_cause.end(), Bytes());
}

TEST(DevicePeaks, CausesAddUpToThePeakOfEveryChange) {
  const Problem problem = trained(toy::small_cluster(4, 0, true));
  std::vector<Strategy> strategies = {data_parallel(problem), on_one_device(problem, DeviceId(0))};
  for (const MemoryChange& change : memory_changes(problem, strategies.front()))
    strategies.push_back(change.apply(strategies.front()));
  ASSERT_GT(strategies.size(), 8U);
  for (const Strategy& strategy : strategies) {
    const Outcome outcome = simulate_strategy(problem, strategy, false);
    const auto peaks = device_peaks(*outcome.timeline);
    for (const DeviceId device : peaks.ids()) {
      const DevicePeak& peak = peaks[device];
      EXPECT_EQ(peak.peak, outcome.timeline->devices[device].peak);
      EXPECT_EQ(sum_of(peak), peak.peak);
      Bytes of_ops, told;
      for (const auto& [op, bytes] : peak.by_op) of_ops += bytes;
      for (const MemoryCause cause : {MemoryCause::Activations, MemoryCause::Logits,
                                      MemoryCause::PassedBack, MemoryCause::Communicated})
        told += peak.by_cause[static_cast<std::size_t>(cause)];
      EXPECT_LE(of_ops, told);  // what no op makes is no op's
    }
  }
}

TEST(DevicePeaks, KnowWhatParametersAndTheirStatesTake) {
  const Problem problem = trained(toy::small_cluster(2, 0));
  const Outcome outcome = simulate_strategy(problem, data_parallel(problem), false);
  const DevicePeak peak = device_peaks(*outcome.timeline)[DeviceId(0)];
  const auto bytes = [&](MemoryCause cause) {
    return peak.by_cause[static_cast<std::size_t>(cause)].value;
  };
  EXPECT_EQ(bytes(MemoryCause::Parameters), kLayers * kWidth * kWidth * 4);
  EXPECT_EQ(bytes(MemoryCause::OptimizerState), 2 * kLayers * kWidth * kWidth * 4);
  EXPECT_GT(bytes(MemoryCause::Activations) + bytes(MemoryCause::Gradients), 0);
  EXPECT_EQ(bytes(MemoryCause::Gathered), 0);
}

TEST(DevicePeaks, TellGatheredParametersFromKeptOnes) {
  const Problem problem = trained(toy::small_cluster(4, 0));
  for (const MemoryChange& change : memory_changes(problem, data_parallel(problem))) {
    if (change.words.find("ZeRO 3") == std::string::npos) continue;
    const Strategy sharded = change.apply(data_parallel(problem));
    const Outcome outcome = simulate_strategy(problem, sharded, false);
    const DevicePeak peak = device_peaks(*outcome.timeline)[DeviceId(0)];
    EXPECT_EQ(peak.by_cause[static_cast<std::size_t>(MemoryCause::Parameters)].value,
              kLayers * kWidth * kWidth);  // a fourth of four bytes each
    return;
  }
  FAIL() << "there is no change to ZeRO 3";
}

TEST(MemoryChanges, EachMakesAnotherStrategyAndSaysHow) {
  const Problem problem = trained(toy::small_cluster(4, 0, true));
  const Strategy now = data_parallel(problem);
  std::set<std::string> words;
  for (const MemoryChange& change : memory_changes(problem, now)) {
    EXPECT_NE(change.apply(now), now) << change.words;
    EXPECT_TRUE(words.insert(change.words).second) << change.words;
  }
  for (const char* kind : {"again", "micro-batches", "ZeRO", "hosts", "columns"})
    EXPECT_TRUE(std::ranges::any_of(words, [&](const std::string& each) {
      return each.find(kind) != std::string::npos;
    })) << kind;
}

TEST(MemoryChanges, CanBeTakenBack) {
  const Problem problem = trained(toy::small_cluster(4, 0, true));
  const Strategy plain = data_parallel(problem);
  for (const MemoryChange& change : memory_changes(problem, plain)) {
    if (change.words.find("into 4") != std::string::npos ||
        change.words.find("into 8") != std::string::npos ||
        change.words.find("into 16") != std::string::npos)
      continue;  // half as many is one step
    const Strategy changed = change.apply(plain);
    const auto back = memory_changes(problem, changed);
    EXPECT_TRUE(std::ranges::any_of(back, [&](const MemoryChange& one) {
      return one.apply(changed) == plain;
    })) << change.words;
  }
}

TEST(MemoryChanges, HostsThatAreNotToldKeepNothing) {
  const Problem problem = trained(toy::small_cluster(4, 0, false));
  for (const MemoryChange& change : memory_changes(problem, data_parallel(problem)))
    EXPECT_NE(change.kind, MemoryChange::Kind::Offload);
}

TEST(FittingPlans, AreAllSingleChangesThatFitInTheOrderOfTheirTime) {
  const Problem problem = short_of_memory(0.8);
  const Strategy now = data_parallel(problem);
  const auto evaluator = make_simulating_evaluator(problem, 1);
  const FittingPlans found = fitting_plans(problem, now, *evaluator);
  ASSERT_FALSE(found.now.feasible);
  ASSERT_FALSE(found.plans.empty());
  EXPECT_TRUE(found.nearest.empty());
  std::vector<std::string> expected;
  std::vector<std::pair<Nanos, Bytes>> seen;
  std::vector<std::pair<Nanos, std::string>> ordered;
  for (const MemoryChange& change : memory_changes(problem, now))
    if (const Score score = evaluator->evaluate(change.apply(now)); change.saves && score.feasible)
      ordered.emplace_back(score.step_time, change.words);
  std::ranges::stable_sort(ordered, {}, [](const auto& each) { return each.first; });
  for (const auto& [time, words] : ordered) {
    if (!seen.empty() && seen.back().first == time) continue;  // as fast as one before it
    seen.emplace_back(time, Bytes());
    expected.push_back(words);
  }
  std::vector<std::string> got;
  for (const ChangedPlan& plan : found.plans) {
    EXPECT_TRUE(plan.score.feasible);
    EXPECT_EQ(evaluator->evaluate(plan.strategy).step_time, plan.score.step_time);
    if (plan.words.size() == 1) got.push_back(plan.words.front());
  }
  EXPECT_EQ(got, expected);
}

TEST(FittingPlans, PairsAreThereWhereNoSingleChangeFits) {
  bool any = false;
  for (const double part : {0.5, 0.4, 0.3, 0.25, 0.2}) {
    const Problem problem = short_of_memory(part);
    const Strategy now = data_parallel(problem);
    const auto evaluator = make_simulating_evaluator(problem, 1);
    const FittingPlans found = fitting_plans(problem, now, *evaluator);
    const bool single = std::ranges::any_of(
        found.plans, [](const ChangedPlan& plan) { return plan.words.size() == 1; });
    // Against all pairs: what fits is found where both changes could be enough.
    bool fits = false;
    const auto changes = memory_changes(problem, now);
    for (const MemoryChange& a : changes)
      for (const MemoryChange& b : changes)
        if (a.saves && b.saves && a.kind < b.kind)
          fits |= evaluator->evaluate(b.apply(a.apply(now))).feasible;
    if (single || !fits) continue;
    any = true;
    ASSERT_FALSE(found.plans.empty()) << part;
    EXPECT_EQ(found.plans.front().words.size(), 2U);
  }
  EXPECT_TRUE(any);  // or the test says nothing
}

TEST(FittingPlans, WhatIsNearestIsToldWhereNothingFits) {
  const Problem problem = short_of_memory(0.02);
  const auto evaluator = make_simulating_evaluator(problem, 1);
  const FittingPlans found = fitting_plans(problem, data_parallel(problem), *evaluator);
  EXPECT_TRUE(found.plans.empty());
  ASSERT_FALSE(found.nearest.empty());
  EXPECT_LT(found.nearest.front().score.overflow, found.now.overflow);
  EXPECT_TRUE(std::ranges::is_sorted(found.nearest, {},
                                     [](const ChangedPlan& plan) { return plan.score.overflow; }));
}

TEST(FittingPlans, OfOneThatFitsAreFasterOnes) {
  const Problem problem = trained(toy::small_cluster(4, 0, true));
  Strategy slow = data_parallel(problem);
  slow.recomputed = recomputed_ops(*problem.graph, Recompute::Blocks);
  ASSERT_FALSE(slow.recomputed.empty());
  const auto evaluator = make_simulating_evaluator(problem, 1);
  const FittingPlans found = fitting_plans(problem, slow, *evaluator);
  ASSERT_TRUE(found.now.feasible);
  EXPECT_TRUE(std::ranges::any_of(found.plans, [](const ChangedPlan& plan) {
    return plan.words.front() == "keep what is computed again";
  }));
  for (const ChangedPlan& plan : found.plans) EXPECT_LT(plan.score.step_time, found.now.step_time);
}

TEST(FittingPlans, EndWhenAskedTo) {
  const Problem problem = short_of_memory(0.8);
  const auto evaluator = make_simulating_evaluator(problem, 1);
  std::stop_source stop;
  std::size_t told = 0;
  const FittingPlans found =
      fitting_plans(problem, data_parallel(problem), *evaluator, stop.get_token(),
                    [&](std::size_t done, std::size_t all) {
                      EXPECT_LE(done, all);
                      ++told;
                      stop.request_stop();
                    });
  EXPECT_EQ(told, 1U);
  EXPECT_TRUE(found.stopped);
}

}  // namespace
}  // namespace strato
