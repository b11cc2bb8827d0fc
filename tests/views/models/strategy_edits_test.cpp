#include "views/models/strategy_edits.h"

#include "tests/views/models/fixture.h"
#include "views/models/explanation.h"
#include "views/models/vital_signs.h"

namespace strato {
namespace {

using StrategyEdits = SessionTest;

TEST_F(StrategyEdits, SharesAddUp) {
  open_lenet();
  const Cluster& cluster = *problem().cluster;
  Decision decision = decision_on_groups(cluster, std::vector{DeviceGroupId(0), DeviceGroupId(1)},
                                         Mode::ReplicateAllReduce);
  decision.devices[0].weight = 5;
  double total = 0;
  for (std::size_t g = 0; g < cluster.groups().size(); ++g) {
    total += share_on(decision, cluster, DeviceGroupId(g)).share;
  }
  EXPECT_DOUBLE_EQ(total, 1);
  decision.mode = Mode::Duplicate;
  EXPECT_DOUBLE_EQ(share_on(decision, cluster, DeviceGroupId(1)).share, 1);
}

TEST_F(StrategyEdits, AnEditNeverLeavesAGroupWithoutDevicesOrUnsorted) {
  open_lenet();
  const Cluster& cluster = *problem().cluster;
  Strategy strategy = session_.snapshot().strategy;
  std::vector<GroupId> all;
  for (std::size_t g = 0; g < strategy.groups.size(); ++g) all.emplace_back(g);
  for (std::size_t d = cluster.device_count(); d-- > 0;) {
    strategy = with_device(strategy, all, DeviceId(d), false);
    validate(strategy, *problem().grouping, cluster);
  }
  for (std::size_t d = cluster.device_count(); d-- > 0;) {
    strategy = with_device(strategy, all, DeviceId(d), true);
    validate(strategy, *problem().grouping, cluster);
  }
  strategy = with_device_group(strategy, all, cluster, DeviceGroupId(0), false);
  strategy = with_proportional_shares(strategy, all, problem());
  strategy = with_weight(strategy, all, cluster, DeviceGroupId(1), -4);
  validate(strategy, *problem().grouping, cluster);
}

TEST_F(StrategyEdits, ProportionalSharesFollowTheSpeed) {
  session_.open_cluster(sample("clusters/mixed-a100-l40s.json"));
  ImportOptions import;
  import.batch = 512;
  session_.open_model(sample("models/lenet.onnx"), import, {});
  session_.settle();
  ASSERT_TRUE(session_.snapshot().problem);
  const std::vector<GroupId> first = {GroupId(0)};
  const Strategy strategy =
      with_proportional_shares(session_.snapshot().strategy, first, problem());
  std::int32_t most = 0;
  for (const DeviceShare& share : strategy.groups[GroupId(0)]->devices) {
    EXPECT_GE(share.weight, 1);
    most = std::max(most, share.weight);
  }
  EXPECT_EQ(most, 10);
}

TEST_F(StrategyEdits, DeviceTimesAddUpToTheStep) {
  open_lenet();
  const Timeline& timeline = *session_.snapshot().outcome->timeline;
  for (const DeviceTimes& times : device_times(timeline)) {
    EXPECT_EQ(times.compute + times.communication + times.idle, timeline.step_time);
    EXPECT_GE(times.idle, Nanos(0));
    EXPECT_GE(times.overlapped, Nanos(0));
  }
}

TEST_F(StrategyEdits, UnequalSharesReadAsPartsOfTheBatch) {
  open_lenet();
  const std::vector<GroupId> first = {GroupId(0)};
  const Cluster& cluster = *problem().cluster;
  Decision decision = *session_.snapshot().strategy.groups[GroupId(0)];
  EXPECT_EQ(describe_shares(decision, cluster).toStdString(), describe(decision, cluster));
  decision.devices[0].weight = 3;
  const QString text = describe_shares(decision, cluster);
  EXPECT_TRUE(text.contains("75 %")) << text.toStdString();
  EXPECT_TRUE(text.contains("25 %")) << text.toStdString();
  EXPECT_FALSE(text.contains("x3")) << text.toStdString();
}

TEST_F(StrategyEdits, VitalSignsOfABaselineAreOnes) {
  open_lenet();
  const auto signs = vital_signs(session_.snapshot());
  ASSERT_TRUE(signs);
  EXPECT_DOUBLE_EQ(*signs->speedup, 1);
  EXPECT_GE(*signs->over_bound, 1);
  EXPECT_FALSE(signs->delta);
  EXPECT_FALSE(vital_signs(Snapshot()).has_value());
}

}  // namespace
}  // namespace strato
