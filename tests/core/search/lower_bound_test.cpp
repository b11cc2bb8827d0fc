#include "core/search/evaluate/lower_bound.h"

#include <gtest/gtest.h>

#include "core/base/random.h"
#include "core/cost/model/measured_cost_model.h"
#include "core/cost/value/profile.h"
#include "core/search/evaluate/actions.h"
#include "core/search/evaluate/baselines.h"
#include "core/search/evaluate/simulating_evaluator.h"
#include "tests/core/graph/model_kit.h"
#include "tests/core/search/toy.h"

namespace strato {
namespace {

Problem trained_chain(std::shared_ptr<const Cluster> cluster, int layers, std::int64_t batch,
                      std::int64_t width, int groups) {
  ProblemOptions options;
  options.grouping.max_groups = groups;
  return make_problem(toy::chain(layers, batch, width), std::move(cluster), options);
}

// Every strategy over the unmerged actions, counted up like an odometer.
void expect_no_strategy_beats_the_bound(const Problem& problem) {
  ActionOptions everything;
  everything.merge_symmetric = false;
  const std::vector<Decision> actions = make_actions(problem, everything);
  const Nanos bound = lower_bound(problem);
  EXPECT_GT(bound.value, 0);
  const auto evaluator = make_simulating_evaluator(problem, 1);
  std::vector<std::size_t> digits(problem.grouping->size(), 0);
  Nanos best = Nanos::max();
  for (bool more = true; more;) {
    std::vector<Strategy> batch;
    while (more && batch.size() < 64) {
      batch.emplace_back();
      for (std::size_t digit : digits) batch.back().groups.emplace_back(actions[digit]);
      std::size_t place = 0;
      while (place < digits.size() && ++digits[place] == actions.size()) digits[place++] = 0;
      more = place < digits.size();
    }
    for (const Score& score : evaluator->evaluate(batch)) best = std::min(best, score.step_time);
  }
  EXPECT_GE(best, bound);
}

TEST(LowerBound, no_strategy_of_a_tiny_problem_beats_it) {
  expect_no_strategy_beats_the_bound(trained_chain(toy::small_cluster(2, 1), 2, 8, 64, 2));
  expect_no_strategy_beats_the_bound(trained_chain(toy::small_cluster(2, 1), 3, 64, 512, 3));
  expect_no_strategy_beats_the_bound(trained_chain(toy::small_cluster(1, 2), 2, 3, 1024, 2));
}

TEST(LowerBound, random_shares_do_not_beat_it) {
  const Problem problem = trained_chain(toy::sample_cluster("tag-testbed"), 4, 96, 1024, 4);
  const Nanos bound = lower_bound(problem);
  const auto evaluator = make_simulating_evaluator(problem, 1);
  Random random(3);
  for (int round = 0; round < 300; ++round) {
    Strategy strategy;
    for (std::size_t g = 0; g < problem.grouping->size(); ++g) {
      Decision decision{static_cast<Mode>(random.below(4)), {}};
      for (std::size_t d = 0; d < problem.cluster->device_count(); ++d)
        if (random.below(2) == 0)
          decision.devices.push_back({DeviceId(d), static_cast<std::int32_t>(1 + random.below(9))});
      if (decision.devices.empty()) decision = decision_on_device(DeviceId(0));
      strategy.groups.emplace_back(decision);
    }
    EXPECT_GE(evaluator->evaluate(strategy).step_time, bound);
  }
}

// One device of one type: the work bound is the sum of all op times, which the simulator reaches.
TEST(LowerBound, is_tight_on_one_device) {
  const Problem problem = trained_chain(toy::small_cluster(1, 0), 3, 16, 512, 3);
  const auto evaluator = make_simulating_evaluator(problem, 1);
  const Nanos time = evaluator->evaluate(on_one_device(problem, DeviceId(0))).step_time;
  EXPECT_LE(lower_bound(problem), time);
  EXPECT_GT(lower_bound(problem).value, time.value * 999 / 1000);
}

// Equal devices without communication to count: the bound is the n-th part of the work or the path.
TEST(LowerBound, falls_with_more_devices_but_not_below_the_path) {
  Nanos last = Nanos::max();
  for (int devices : {1, 2, 4, 8}) {
    const Nanos bound = lower_bound(trained_chain(toy::small_cluster(devices, 0), 3, 64, 2048, 3));
    EXPECT_LE(bound, last);
    last = bound;
  }
  EXPECT_GT(last.value, 0);
}

// A launch and a rate; moving takes no time to speak of, and no part of an op less than `floor`.
class LinearCosts final : public CostModel {
 public:
  LinearCosts(std::int64_t launch, std::int64_t sample, std::int64_t floor)
      : launch_(launch), sample_(sample), floor_(floor) {}
  Nanos compute(OpId, GpuTypeId, std::int64_t samples) const override {
    return Nanos(launch_ + sample_ * samples);
  }
  Nanos local_move(GpuTypeId, Bytes) const override { return Nanos(floor_); }
  Nanos transfer(const Path&, Bytes) const override { return Nanos(1); }
  CollectiveCost collective(Collective, std::span<const DeviceId>, Bytes) const override {
    return {Nanos(1), {}, Nanos(0)};
  }
  const Digest& digest() const override { return digest_; }

 private:
  std::int64_t launch_, sample_, floor_;
  Digest digest_;
};

// A matrix product, or an op that no letter divides: its samples may sit anywhere.
Problem one_op(int devices, bool divisible, std::int64_t launch, std::int64_t sample,
               std::int64_t floor) {
  constexpr std::int64_t kBatch = 8, kWidth = 64;
  ModelKit kit(kBatch);
  const TensorId x = kit.input("x", {kBatch, kWidth});
  if (divisible)
    kit.op("MatMul", {x, kit.weight("w", {kWidth, kWidth})});
  else
    kit.shaped("Unheard", {x}, {{kBatch, kWidth}});
  Problem problem;
  problem.graph = std::make_shared<const Graph>(kit.build());
  problem.cluster = toy::small_cluster(devices, 0);
  problem.cost = std::make_shared<LinearCosts>(launch, sample, floor);
  problem.grouping = std::make_shared<const Grouping>(*problem.graph, std::vector<std::int32_t>{0},
                                                      std::vector<Nanos>{Nanos(1)});
  return problem;
}

Nanos step_on_all(const Problem& problem, std::int32_t columns) {
  Decision everywhere;
  for (std::size_t d = 0; d < problem.cluster->device_count(); ++d)
    everywhere.devices.push_back({DeviceId(d), 1});
  everywhere.roles.tensor = columns;
  Strategy strategy;
  strategy.groups.emplace_back(everywhere);
  return make_simulating_evaluator(problem, 1)->evaluate(strategy).step_time;
}

// One op on n devices takes the n-th part of its time, but no less than the smallest kernel: its
// columns pay the launch once together, its samples once each.
TEST(LowerBound, of_one_op_is_what_its_columns_take) {
  constexpr std::int64_t kLaunch = 100'000, kSample = 50'000, kAll = kLaunch + 8 * kSample;
  for (const std::int64_t floor : {1, 20'000, 200'000, 2'000'000})
    for (const int devices : {1, 2, 4, 8}) {
      const Problem problem = one_op(devices, true, kLaunch, kSample, floor);
      const std::int64_t time = std::max(kAll / devices, std::min(kAll, floor));
      const std::int64_t whole = kLaunch + kSample * 8 / devices;
      // Where the smallest kernel is longer than that of one sample, micro-batches may be faster.
      if (floor <= kLaunch + kSample || devices == 1) {
        EXPECT_NEAR(static_cast<double>(lower_bound(problem).value), static_cast<double>(time), 1);
      }
      EXPECT_LE(lower_bound(problem).value, time);
      EXPECT_EQ(step_on_all(problem, devices), Nanos(devices > 1 ? time : kAll));
      EXPECT_EQ(step_on_all(problem, 1), Nanos(whole));
      EXPECT_NEAR(static_cast<double>(lower_bound(problem, BoundOf::WholeOps).value),
                  static_cast<double>(whole), 1 + 1e-3 * static_cast<double>(whole));
      if (devices > 1 && floor < time) {
        EXPECT_LT(Nanos(time),
                  lower_bound(problem, BoundOf::WholeOps));  // it does not hold for these
      }
    }
}

// Of what only samples divide, micro-batches are all that is more than an even division.
TEST(LowerBound, of_an_op_without_letters_has_a_launch_on_every_device) {
  constexpr std::int64_t kLaunch = 100'000, kSample = 50'000;
  for (const int devices : {1, 2, 4, 8}) {
    const Problem problem = one_op(devices, false, kLaunch, kSample, 1);
    const double even = kLaunch + kSample * 8.0 / devices;
    const auto bound = static_cast<double>(lower_bound(problem).value);
    EXPECT_LE(bound, even);
    EXPECT_GT(bound, 0.8 * even);
    EXPECT_GE(bound, (kLaunch + kSample * 8.0) / devices - 1);
    EXPECT_EQ(step_on_all(problem, 1), Nanos(kLaunch + kSample * 8 / devices));
    EXPECT_EQ(step_on_all(problem, devices), Nanos(kLaunch + kSample * 8));  // each of them all
  }
}

// Measured times may take a step between the batch sizes that the bound looks at.
TEST(LowerBound, holds_for_measured_times_that_grow_faster_than_the_samples) {
  Problem problem = toy::chain_problem(toy::small_cluster(4, 0), 2, 1000);
  Profile profile;
  for (std::size_t op : {0, 1})
    profile.ops.push_back({op_signature(*problem.graph, OpId(op)),
                           "V100-SXM2-32GB",
                           {{1, Nanos(100'000), {}, 10},
                            {250, Nanos(100'000), {}, 10},
                            {293, Nanos(4'400'000), {}, 10},
                            {1000, Nanos(20'000'000), {}, 10}}});
  CostSources sources;
  sources.profile = std::make_shared<const Profile>(normalised(std::move(profile)));
  problem.cost = make_cost_model(problem.graph, problem.cluster, sources);
  Strategy everywhere;
  everywhere.groups.resize(problem.grouping->size());
  const Nanos time = make_simulating_evaluator(problem, 1)->evaluate(everywhere).step_time;
  EXPECT_EQ(time, Nanos(400'000));  // 250 samples a device
  EXPECT_LE(lower_bound(problem), time);
}

}  // namespace
}  // namespace strato
