// Strategies as values: apportioning, completion, validation, words.
#include "core/strategy/value/strategy.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <numeric>

#include "core/base/error.h"
#include "tests/core/strategy/fixture.h"

namespace strato {
namespace {

std::vector<DeviceShare> shares_of(const std::vector<int>& weights) {
  std::vector<DeviceShare> shares;
  for (const int weight : weights) shares.push_back({DeviceId(shares.size()), weight});
  return shares;
}

using Samples = std::vector<std::int64_t>;

TEST(Apportion, Examples) {
  EXPECT_EQ(apportion(96, shares_of({1, 1, 1, 1})), (Samples{24, 24, 24, 24}));
  EXPECT_EQ(apportion(10, shares_of({1, 1, 1})), (Samples{4, 3, 3}));
  EXPECT_EQ(apportion(10, shares_of({3, 1, 1})), (Samples{6, 2, 2}));
  EXPECT_EQ(apportion(2, shares_of({1, 1, 1, 1})), (Samples{1, 1, 0, 0}));
  EXPECT_EQ(apportion(0, shares_of({5, 7})), (Samples{0, 0}));
  EXPECT_EQ(apportion(7, shares_of({9})), (Samples{7}));
  EXPECT_EQ(apportion(7, shares_of({2, 1})), (Samples{5, 2}));
}

TEST(Apportion, EqualWeightsOfAnySizeAreTheSame) {
  for (std::int64_t batch = 0; batch < 40; ++batch) {
    EXPECT_EQ(apportion(batch, shares_of({1, 1, 1, 1, 1})),
              apportion(batch, shares_of({7, 7, 7, 7, 7})));
    // One weight of a million apart is equal for such batches, and takes the general way.
    EXPECT_EQ(apportion(batch, shares_of({1'000'001, 1'000'000, 1'000'000})),
              apportion(batch, shares_of({1, 1, 1})));
  }
  EXPECT_THROW(apportion(-1, shares_of({1, 1})), InvariantError);
  EXPECT_THROW(apportion(5, {}), InvariantError);
}

TEST(Apportion, LargeNumbersDoNotOverflow) {
  const std::int64_t batch = std::int64_t{1} << 62;
  const Samples samples = apportion(batch, shares_of({2'000'000'000, 2'000'000'000}));
  EXPECT_EQ(samples, (Samples{batch / 2, batch / 2}));
}

TEST(Apportion, Properties) {
  EXPECT_TRUE(rc::check([] {
    const auto weights =
        *rc::gen::nonEmpty(rc::gen::container<std::vector<int>>(rc::gen::inRange(1, 1000)));
    const auto batch = *rc::gen::inRange<std::int64_t>(0, 100'000);
    const std::vector<DeviceShare> shares = shares_of(weights);
    const Samples samples = apportion(batch, shares);
    RC_ASSERT(std::accumulate(samples.begin(), samples.end(), std::int64_t{0}) == batch);
    RC_ASSERT(samples == apportion(batch, shares));
    const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
    for (std::size_t i = 0; i < weights.size(); ++i) {
      const double quota = static_cast<double>(batch) * weights[i] / total;
      RC_ASSERT(std::abs(static_cast<double>(samples[i]) - quota) < 1 + 1e-6);
      for (std::size_t j = 0; j < weights.size(); ++j) {
        if (weights[i] > weights[j]) RC_ASSERT(samples[i] >= samples[j]);
        if (weights[i] == weights[j] && i < j) RC_ASSERT(samples[i] >= samples[j]);
      }
    }
  }));
}

TEST(Modes, NamesRoundTrip) {
  for (const Mode mode :
       {Mode::ReplicateAllReduce, Mode::ReplicatePs, Mode::Duplicate, Mode::ModelParallel}) {
    EXPECT_EQ(mode_from(name_of(mode)), mode);
    EXPECT_FALSE(label_of(mode).empty());
  }
  EXPECT_EQ(mode_from("AllReduce"), std::nullopt);
}

TEST(Completion, TakesTheFirstDecidedGroup) {
  const toy::Problem p;
  Strategy partial;
  partial.groups.resize(4);
  partial.groups[GroupId(1)] = p.on({"v100:0"});
  partial.groups[GroupId(3)] = p.on({"p100-0:0"}, Mode::Duplicate);
  EXPECT_FALSE(partial.is_complete());
  const Strategy full = complete(partial, *p.cluster);
  EXPECT_TRUE(full.is_complete());
  EXPECT_EQ(full.groups[GroupId(0)], partial.groups[GroupId(1)]);
  EXPECT_EQ(full.groups[GroupId(2)], partial.groups[GroupId(1)]);
  EXPECT_EQ(full.groups[GroupId(3)], partial.groups[GroupId(3)]);
  EXPECT_EQ(complete(full, *p.cluster), full);
}

TEST(Completion, IsDataParallelWhereNothingIsDecided) {
  const toy::Problem p;
  Strategy partial;
  partial.groups.resize(4);
  const Strategy full = complete(partial, *p.cluster);
  for (const auto& decision : full.groups) {
    EXPECT_EQ(decision->mode, Mode::ReplicateAllReduce);
    EXPECT_EQ(decision->devices.size(), 16u);
  }
}

TEST(Decisions, OnGroupsAreSortedAndUnique) {
  const toy::Problem p;
  const DeviceGroupId v100 = p.cluster->find_group("v100"), p100 = p.cluster->find_group("p100-1");
  const std::vector<DeviceGroupId> groups = {p100, v100, p100};
  const Decision decision = decision_on_groups(*p.cluster, groups, Mode::ReplicatePs);
  ASSERT_EQ(decision.devices.size(), 6u);
  EXPECT_TRUE(std::is_sorted(decision.devices.begin(), decision.devices.end()));
}

TEST(StrategyDigest, ChangesWithEveryPart) {
  const toy::Problem p;
  Strategy base;
  base.groups.resize(4);
  base.groups[GroupId(0)] = p.on({"v100:0", "v100:1"});
  std::vector<Digest> digests = {base.digest()};
  Strategy other = base;
  other.groups[GroupId(0)]->mode = Mode::ReplicatePs;
  digests.push_back(other.digest());
  other = base;
  other.groups[GroupId(0)]->devices[1].weight = 2;
  digests.push_back(other.digest());
  other = base;
  std::swap(other.groups[GroupId(0)], other.groups[GroupId(1)]);
  digests.push_back(other.digest());
  other = base;
  other.bucket = Bytes(25);
  digests.push_back(other.digest());
  other.bucket = Bytes(26);
  digests.push_back(other.digest());
  other = base;
  other.duplicated = {OpId(0)};
  digests.push_back(other.digest());
  EXPECT_NE(other, base);
  other.duplicated = {OpId(0), OpId(2)};
  digests.push_back(other.digest());
  other = base;
  other.priorities.assign(9, 0);
  digests.push_back(other.digest());
  other.priorities[8] = -1;
  digests.push_back(other.digest());
  std::sort(digests.begin(), digests.end());
  EXPECT_EQ(std::unique(digests.begin(), digests.end()), digests.end());
  EXPECT_EQ(Strategy(base).digest(), base.digest());
}

TEST(StrategyDigest, OfStoredStrategiesStaysWhatItWas) {
  Strategy strategy;
  strategy.groups.resize(2);
  strategy.groups[GroupId(0)] = decision_on_device(DeviceId(3));
  EXPECT_EQ(strategy.digest(), Hasher()
                                   .text("strategy 1")
                                   .number(std::size_t{2})
                                   .number(true)
                                   .number(Mode::ReplicateAllReduce)
                                   .number(std::size_t{1})
                                   .number(std::int32_t{3})
                                   .number(std::int32_t{1})
                                   .number(false)
                                   .finish());
}

TEST(Completion, KeepsBucketDuplicatedOpsAndOrder) {
  const toy::Problem p;
  Strategy partial;
  partial.groups.resize(4);
  partial.bucket = Bytes(7);
  partial.priorities = {1, 2};
  partial.duplicated = {OpId(3)};
  EXPECT_EQ(complete(partial, *p.cluster).duplicated, partial.duplicated);
  EXPECT_EQ(complete(partial, *p.cluster).bucket, Bytes(7));
  EXPECT_EQ(complete(partial, *p.cluster).priorities, (std::vector<std::int32_t>{1, 2}));
}

std::string complaint(const toy::Problem& p, const Decision& decision) {
  Strategy strategy;
  strategy.groups.resize(4);
  strategy.groups[GroupId(2)] = decision;
  try {
    validate(strategy, p.grouping, *p.cluster);
  } catch (const InputError& error) {
    EXPECT_EQ(error.place(), "group \"" + p.grouping.group(GroupId(2)).name + "\"");
    return error.problem();
  }
  return "";
}

TEST(Validation, NamesWhatIsWrong) {
  const toy::Problem p;
  EXPECT_EQ(complaint(p, p.on({"v100:0", "p100-1:1"})), "");
  EXPECT_EQ(complaint(p, {}), "names no device");
  EXPECT_EQ(complaint(p, p.on({"v100:1", "v100:1"})), "repeats device v100:1");
  EXPECT_EQ(complaint(p, p.on({"v100:1", "v100:0"})), "has device v100:0 out of order");
  EXPECT_EQ(complaint(p, decision_on_device(DeviceId(16))),
            "names device number 16, which the cluster does not have");
  EXPECT_EQ(complaint(p, decision_on_device(DeviceId())),
            "names device number -1, which the cluster does not have");
  Decision weightless = p.on({"v100:1"});
  weightless.devices[0].weight = 0;
  EXPECT_EQ(complaint(p, weightless), "gives device v100:1 the weight 0");
}

TEST(Validation, ChecksTheNumberOfGroups) {
  const toy::Problem p;
  Strategy strategy;
  strategy.groups.resize(3);
  EXPECT_THROW(validate(strategy, p.grouping, *p.cluster), InputError);
}

TEST(Validation, ChecksBucketAndOrder) {
  const toy::Problem p;
  Strategy strategy;
  strategy.groups.resize(4);
  const auto place = [&]() -> std::string {
    try {
      validate(strategy, p.grouping, *p.cluster);
    } catch (const InputError& error) {
      return error.place() + ": " + error.problem();
    }
    return "";
  };
  strategy.bucket = Bytes(1);
  strategy.priorities.assign(p.graph->op_count(), -3);
  EXPECT_EQ(place(), "");
  strategy.priorities.pop_back();
  const auto ops = std::to_string(p.graph->op_count());
  EXPECT_EQ(place(), "execution order: has " + std::to_string(p.graph->op_count() - 1) +
                         " priorities, the model has " + ops + " ops");
  strategy.priorities.clear();
  strategy.bucket = Bytes(-1);
  EXPECT_EQ(place(), "gradient buckets: have a limit of -1 bytes");
}

TEST(Validation, ChecksDuplicatedOps) {
  const toy::Problem p;
  Strategy strategy;
  strategy.groups.resize(4);
  const std::size_t ops = p.graph->op_count();
  const auto complaint = [&](std::vector<OpId> duplicated) -> std::string {
    strategy.duplicated = std::move(duplicated);
    try {
      validate(strategy, p.grouping, *p.cluster);
    } catch (const InputError& error) {
      EXPECT_EQ(error.place(), "duplicated ops");
      return error.problem();
    }
    return "";
  };
  const std::string all = ", the model has " + std::to_string(ops) + " ops";
  EXPECT_EQ(complaint({}), "");
  EXPECT_EQ(complaint({OpId(0), OpId(2), OpId(ops - 1)}), "");
  EXPECT_EQ(complaint({OpId(1), OpId(1)}), "have op number 1 twice");
  EXPECT_EQ(complaint({OpId(2), OpId(1)}), "have op number 1 out of order");
  EXPECT_EQ(complaint({OpId(ops)}), "have op number " + std::to_string(ops) + all);
  EXPECT_EQ(complaint({OpId()}), "have op number -1" + all);
}

TEST(Words, OfDecisions) {
  const toy::Problem p;
  const auto groups = [&](std::initializer_list<const char*> names) {
    std::vector<DeviceGroupId> ids;
    for (const char* name : names) ids.push_back(p.cluster->find_group(name));
    return decision_on_groups(*p.cluster, ids, Mode::ReplicatePs);
  };
  EXPECT_EQ(describe(groups({"v100", "1080ti-0"}), *p.cluster), "PS on v100, 1080ti-0");
  EXPECT_EQ(describe(p.on({"v100:0", "v100:2"}), *p.cluster), "AllReduce on v100:0, v100:2");
  EXPECT_EQ(describe(p.on({"v100:3"}, Mode::Duplicate), *p.cluster), "on v100:3");
  Decision shares = groups({"v100", "p100-0"});
  EXPECT_EQ(describe(shares, *p.cluster), "PS on v100, p100-0");
  for (std::size_t i = 0; i < 4; ++i) shares.devices[i].weight = 3;
  EXPECT_EQ(describe(shares, *p.cluster), "PS on v100 x3, p100-0 x1");
  Strategy none;
  none.groups.resize(1);
  EXPECT_EQ(describe(*complete(none, *p.cluster).groups[GroupId(0)], *p.cluster),
            "AllReduce on all 16 devices");
}

}  // namespace
}  // namespace strato
