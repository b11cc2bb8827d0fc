// The parts of DPOS on their own: the order that ranks give and its revisions, and where a node
// goes.
#include <gtest/gtest.h>

#include <algorithm>

#include "core/schedule/list/dpos_order.h"
#include "core/schedule/list/dpos_placer.h"
#include "tests/core/schedule/dag_cases.h"
#include "tests/core/schedule/dag_now.h"

namespace strato {
namespace {

constexpr std::int64_t kGigabyte = std::int64_t{1} << 30;

std::vector<DeviceId> devices_of(const Cluster& cluster) {
  std::vector<DeviceId> devices;
  for (std::size_t d = 0; d < cluster.device_count(); ++d) devices.emplace_back(d);
  return devices;
}

std::vector<NodeIndex> list_of(std::span<const NodeIndex> nodes) {
  return {nodes.begin(), nodes.end()};
}

// A fork 0 -> {1, 2} -> 3 on two equal devices; node 2 takes longer. On one GPU type.
struct Fork {
  std::shared_ptr<const Cluster> cluster = dag_cases::cluster(2);
  dag_cases::ByteCost cost;
  std::vector<DeviceId> devices = devices_of(*cluster);
  PairTimes transfers{*cluster, cost};
  EditableDag dag;

  explicit Fork(Bytes memory = Bytes(1)) : dag(build(memory), transfers) {}

  static Dag build(Bytes memory) {
    DagBuilder builder(1);
    for (const std::int64_t time : {2, 3, 8, 1}) {
      const Nanos nanos(time);
      builder.add_node(std::span(&nanos, 1), memory);
    }
    for (const auto& [from, to] : {std::pair(0, 1), {0, 2}, {1, 3}, {2, 3}})
      builder.add_edge(from, to, Bytes(4));
    return std::move(builder).build();
  }
};

TEST(DposOrder, is_by_descending_upward_rank) {
  const Fork fork;
  const DposOrder order(fork.dag, fork.transfers, *fork.cluster, fork.devices, true);
  EXPECT_EQ(order.rank(3), Nanos(1));
  EXPECT_EQ(order.rank(2), Nanos(8 + 4 + 1));
  EXPECT_EQ(order.rank(0), Nanos(2 + 4 + 13));
  EXPECT_EQ(list_of(order.order()), (std::vector<NodeIndex>{0, 2, 1, 3}));
  EXPECT_EQ(list_of(order.path()), (std::vector<NodeIndex>{0, 2, 3}));
  EXPECT_TRUE(order.is_on_path(2));
  EXPECT_FALSE(order.is_on_path(1));
}

// Node 2 becomes two short ones, so that node 1 comes first and is on the critical path.
DagEdit split_of_node_2() {
  DagEdit edit;
  edit.removed = {2};
  for (int k = 0; k < 2; ++k) edit.added.push_back({{Nanos(1)}, Bytes(1), 2});
  for (const NodeIndex part : {4, 5}) {
    edit.edges.push_back({0, part, Bytes(1)});
    edit.edges.push_back({part, 3, Bytes(1)});
  }
  return edit;
}

OrderRevision revise(DposOrder& order, EditableDag& dag, const DagEdit& edit) {
  std::vector<NodeIndex> touched;
  const std::size_t old_size = dag.size();
  dag.apply(edit, touched);
  return order.revise(edit, old_size, std::move(touched));
}

TEST(DposOrder, a_discarded_revision_leaves_nothing) {
  Fork fork;
  DposOrder order(fork.dag, fork.transfers, *fork.cluster, fork.devices, true);
  const OrderRevision revision = revise(order, fork.dag, split_of_node_2());
  EXPECT_TRUE(order.is_on_path(1));
  order.discard(revision);
  fork.dag.undo();
  EXPECT_EQ(list_of(order.order()), (std::vector<NodeIndex>{0, 2, 1, 3}));
  EXPECT_EQ(list_of(order.path()), (std::vector<NodeIndex>{0, 2, 3}));
  EXPECT_FALSE(order.is_on_path(1));
  EXPECT_TRUE(order.is_on_path(2));
  EXPECT_EQ(order.rank(0), Nanos(2 + 4 + 13));
}

TEST(DposOrder, a_taken_revision_is_as_from_scratch) {
  Fork fork;
  DposOrder order(fork.dag, fork.transfers, *fork.cluster, fork.devices, true);
  OrderRevision revision = revise(order, fork.dag, split_of_node_2());
  EXPECT_EQ(revision.path, (std::vector<NodeIndex>{0, 1, 3}));
  EXPECT_EQ(revision.place, 0u);  // even the first node has another rank
  order.take(std::move(revision));
  EXPECT_EQ(list_of(order.order()), (std::vector<NodeIndex>{0, 1, 4, 5, 3}));
  EXPECT_EQ(order.rank(4), Nanos(1 + 1 + 1));
  const std::vector<NodeIndex> numbers = nodes_now(fork.dag);
  const Dag now = dag_now(
      fork.dag, 1, [&](const EditableDag::Half& half) { return fork.transfers.bytes(half.row); });
  const EditableDag scratch(now, fork.transfers);
  const DposOrder fresh(scratch, fork.transfers, *fork.cluster, fork.devices, true);
  for (std::size_t i = 0; i < numbers.size(); ++i)
    EXPECT_EQ(fresh.rank(static_cast<NodeIndex>(i)), order.rank(numbers[i]));
}

TEST(DposPlacer, a_node_goes_where_it_finishes_first) {
  const Fork fork;
  const DposPlacer placer(fork.dag, fork.transfers, *fork.cluster, fork.devices, 1);
  PartialSchedule partial = placer.nothing_placed();
  std::vector<PlacedNode> placed(4);
  const auto place = [&](NodeIndex node) {
    std::vector<Nanos> ready;
    placer.find_ready(node, placed, ready);
    const auto selection = placer.select(node, {}, ready, partial);
    EXPECT_EQ(selection.why, PlanningSteps::Why::EarliestFinish);
    placed[static_cast<std::size_t>(node)] =
        placer.at_earliest(node, selection.device, ready, partial);
    placer.put(node, placed[static_cast<std::size_t>(node)], partial);
  };
  for (const NodeIndex node : {0, 2, 1, 3}) place(node);
  EXPECT_EQ(placed[0].device, DeviceId(0));
  EXPECT_EQ(placed[2].device, DeviceId(0));  // at 2 there, at 6 on the other one
  EXPECT_EQ(placed[2].finish, Nanos(10));
  EXPECT_EQ(placed[1].device, DeviceId(1));
  EXPECT_EQ(placed[1].start, Nanos(6));
  EXPECT_EQ(placed[3].start, Nanos(13));
  EXPECT_EQ(partial.makespan, Nanos(14));
  EXPECT_TRUE(partial.fits);
}

TEST(DposPlacer, the_path_takes_a_device_and_moves_on_when_it_is_full) {
  const Fork fork(Bytes(20 * kGigabyte));  // a V100 holds one such node
  const DposPlacer placer(fork.dag, fork.transfers, *fork.cluster, fork.devices, 1);
  PartialSchedule partial = placer.nothing_placed();
  const std::vector<NodeIndex> path = {0, 2, 3};
  const std::vector<Nanos> ready(2);
  const auto first = placer.select(0, path, ready, partial);
  EXPECT_EQ(first.why, PlanningSteps::Why::CriticalPath);
  EXPECT_TRUE(first.chose_path_device);
  placer.put(0, {Nanos(), Nanos(2), first.device}, partial);
  const auto second = placer.select(2, std::span(path).subspan(1), ready, partial);
  EXPECT_TRUE(second.chose_path_device);
  EXPECT_NE(second.device, first.device);
  placer.put(2, {Nanos(), Nanos(8), second.device}, partial);
  EXPECT_TRUE(partial.fits);
  const auto third = placer.select(3, std::span(path).subspan(2), ready, partial);
  EXPECT_EQ(third.why, PlanningSteps::Why::BestEffort);
  placer.put(3, {Nanos(20), Nanos(21), third.device}, partial);
  EXPECT_FALSE(partial.fits);
}

}  // namespace
}  // namespace strato
