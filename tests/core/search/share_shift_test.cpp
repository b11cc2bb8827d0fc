// Samples that move from device to device.
#include "core/search/share_shift.h"

#include <gtest/gtest.h>

#include "core/base/random.h"
#include "tests/core/search/toy.h"

namespace strato {
namespace {

// The first GPU type computes a sample of an op in a microsecond, others in two; nothing else takes
// time.
class TwoToOne final : public CostModel {
 public:
  Nanos compute(OpId, GpuTypeId type, std::int64_t samples) const override {
    return Nanos(samples * (type == GpuTypeId(0) ? 1000 : 2000));
  }
  Nanos local_move(GpuTypeId, Bytes) const override { return {}; }
  Nanos transfer(const Path&, Bytes) const override { return {}; }
  CollectiveCost collective(Collective, std::span<const DeviceId>, Bytes) const override {
    return {};
  }
  const Digest& digest() const override { return digest_; }

 private:
  const Digest digest_ = Hasher().text("two to one").finish();
};

Problem two_devices() {
  Problem problem = toy::chain_problem(toy::small_cluster(1, 1), 1, 48);
  problem.cost = std::make_shared<const TwoToOne>();
  return problem;
}

TEST(ShareShift, TwoDevicesGetSharesInProportionToTheirSpeed) {
  const Problem problem = two_devices();
  const auto evaluator = make_simulating_evaluator(problem, 1);
  Strategy even;
  even.groups.assign(1, Decision{Mode::ReplicateAllReduce, {{DeviceId(0)}, {DeviceId(1)}}});
  const ShiftedShares shifted =
      shift_shares(problem, *evaluator, even, evaluator->evaluate(even), {}, 24, 8);
  const Decision& decision = *shifted.strategy.groups[GroupId(0)];
  const bool first_is_fast = problem.cluster->device(DeviceId(0)).type == GpuTypeId(0);
  EXPECT_EQ(decision.devices[0].weight, first_is_fast ? 2 : 1);
  EXPECT_EQ(decision.devices[1].weight, first_is_fast ? 1 : 2);
  EXPECT_LE(shifted.evaluations, 24);
  EXPECT_GT(shifted.moves, 0);
}

TEST(ShareShift, KeepsWhatIsFixedAndTakesNoMoreThanItMay) {
  const Problem problem = two_devices();
  const auto evaluator = make_simulating_evaluator(problem, 1);
  Strategy even;
  even.groups.assign(1, Decision{Mode::ReplicateAllReduce, {{DeviceId(0)}, {DeviceId(1)}}});
  const Score score = evaluator->evaluate(even);
  EXPECT_EQ(shift_shares(problem, *evaluator, even, score, {true}, 24, 8).strategy, even);
  for (const std::int64_t most : {0, 1, 2, 3}) {
    const ShiftedShares some = shift_shares(problem, *evaluator, even, score, {}, most, 8);
    EXPECT_LE(some.evaluations, most);
    EXPECT_EQ(some.moves > 0, most >= 2);
  }
  std::stop_source stopped;
  stopped.request_stop();
  EXPECT_EQ(
      shift_shares(problem, *evaluator, even, score, {}, 24, 8, stopped.get_token()).evaluations, 0);
  Score infeasible = score;
  infeasible.feasible = false;
  EXPECT_EQ(shift_shares(problem, *evaluator, even, infeasible, {}, 24, 8).strategy, even);
}

Decision random_decision(const Problem& problem, Random& random) {
  Decision decision{static_cast<Mode>(random.below(4)), {}};
  const bool weighted = decision.mode == Mode::ReplicateAllReduce;
  for (std::size_t d = 0; d < problem.cluster->device_count(); ++d)
    if (random.below(3) > 0)
      decision.devices.push_back(
          {DeviceId(d), weighted ? 1 + static_cast<std::int32_t>(random.below(3)) : 1});
  if (decision.devices.empty()) decision.devices.push_back({DeviceId(0)});
  return decision;
}

TEST(ShareShift, IsNeverWorseAndKeepsDevicesModesAndWhatIsFixed) {
  const Problem problem = toy::chain_problem(toy::small_cluster(2, 2), 4);
  const auto evaluator = make_simulating_evaluator(problem, 1);
  Random random(7);
  int improved = 0;
  for (int i = 0; i < 40; ++i) {
    const Decision common = random_decision(problem, random);
    Strategy before;
    std::vector<bool> fixed;
    for (std::size_t g = 0; g < problem.grouping->size(); ++g) {
      before.groups.push_back(random.below(2) > 0 ? common : random_decision(problem, random));
      fixed.push_back(random.below(4) == 0);
    }
    const Score score = evaluator->evaluate(before);
    const ShiftedShares a = shift_shares(problem, *evaluator, before, score, fixed, 24, 8);
    const ShiftedShares b = shift_shares(problem, *evaluator, before, score, fixed, 24, 8);
    EXPECT_EQ(a.strategy, b.strategy);
    EXPECT_EQ(a.evaluations, b.evaluations);
    EXPECT_LE(a.evaluations, 24);
    EXPECT_FALSE(score.better_than(a.score));
    EXPECT_EQ(evaluator->evaluate(a.strategy).step_time, a.score.step_time);
    EXPECT_NO_THROW(validate(a.strategy, *problem.grouping, *problem.cluster));
    improved += a.moves > 0;
    for (std::size_t g = 0; g < before.groups.size(); ++g) {
      const Decision &was = *before.groups[GroupId(g)], &is = *a.strategy.groups[GroupId(g)];
      EXPECT_EQ(was.mode, is.mode);
      ASSERT_EQ(was.devices.size(), is.devices.size());
      for (std::size_t d = 0; d < was.devices.size(); ++d)
        EXPECT_EQ(was.devices[d].device, is.devices[d].device);
      if (fixed[g]) {
        EXPECT_EQ(was, is);
      }
    }
  }
  EXPECT_GT(improved, 0);
}

}  // namespace
}  // namespace strato
