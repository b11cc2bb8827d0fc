#include "plugins/planners/search/exact/list_schedules.h"

#include <algorithm>
#include <optional>
#include <queue>
#include <utility>

#include "core/base/at.h"
#include "core/schedule/dag/levels.h"

namespace strato::exact {
namespace {

constexpr int kPasses = 20;
constexpr std::int64_t kMostTried = 20'000;  // schedules: a second or two

Bytes overflow(const Schedule& schedule, const Cluster& cluster) {
  Bytes beyond;
  for (std::size_t d = 0; d < schedule.memory.size(); ++d)
    beyond += std::max(Bytes(0), schedule.memory[d] - cluster.gpu(DeviceId(d)).memory);
  return beyond;
}

class Improver {
 public:
  Improver(const Instance& instance, std::stop_token stop)
      : instance_(instance),
        devices_(instance.cluster.device_count()),
        classes_(instance.dag),
        stop_(std::move(stop)) {
    const auto& [dag, transfers, cluster] = instance;
    std::vector<std::int64_t> key;
    for (const Nanos level : b_levels(dag, mean_weights(dag, cluster, transfers)))
      key.push_back(-level.value);
    order_ = topological_by(dag, key);
  }

  void start_from(const std::vector<DeviceId>& device) {
    Schedule schedule = schedule_in_order(instance_, device, order_);
    bool better = true;
    for (int pass = 0; better && pass < kPasses; ++pass) {
      better = false;
      for (const std::vector<NodeIndex>& nodes : classes_.nodes)
        if (move(nodes, schedule)) better = true;
    }
    if (!best_ || is_better(schedule, *best_)) best_ = std::move(schedule);
  }

  std::vector<DeviceId> heft() const {
    Scheduling scheduling(instance_.dag, instance_.transfers, instance_.cluster, {});
    for (const NodeIndex node : order_) {
      std::optional<DeviceId> device = scheduling.demanded(node);
      for (std::size_t d = 0; d < devices_ && !scheduling.demanded(node); ++d) {
        if (!scheduling.has_room(node, DeviceId(d))) continue;
        if (!device || scheduling.earliest_finish(node, DeviceId(d)) <
                           scheduling.earliest_finish(node, *device))
          device = DeviceId(d);
      }
      scheduling.place(node, device.value_or(scheduling.emptiest()));
    }
    return std::move(scheduling).finished().device;
  }

  // One device after another is filled with classes.
  std::vector<DeviceId> filled() const {
    std::vector<DeviceId> device_of(instance_.dag.size());
    std::size_t device = 0;
    Bytes used;
    for (const std::vector<NodeIndex>& nodes : classes_.nodes) {
      Bytes needed;
      for (const NodeIndex node : nodes) needed += instance_.dag.memory(node);
      if (used + needed > instance_.cluster.gpu(DeviceId(device)).memory && device + 1 < devices_) {
        ++device;
        used = Bytes(0);
      }
      used += needed;
      for (const NodeIndex node : nodes) device_of[at(node)] = DeviceId(device);
    }
    return device_of;
  }

  Schedule take() && { return std::move(*best_); }

 private:
  bool is_better(const Schedule& a, const Schedule& b) const {
    return std::pair(overflow(a, instance_.cluster), a.makespan) <
           std::pair(overflow(b, instance_.cluster), b.makespan);
  }

  bool move(const std::vector<NodeIndex>& nodes, Schedule& schedule) {
    bool better = false;
    for (std::size_t d = 0; d < devices_ && !stop_.stop_requested(); ++d) {
      if (tried_ >= kMostTried) break;
      std::vector<DeviceId> device = schedule.device;
      if (device[at(nodes.front())] == DeviceId(d)) continue;
      for (const NodeIndex node : nodes) device[at(node)] = DeviceId(d);
      ++tried_;
      Schedule moved = schedule_in_order(instance_, device, order_);
      if (!is_better(moved, schedule)) continue;
      schedule = std::move(moved);
      better = true;
    }
    return better;
  }

  const Instance instance_;
  const std::size_t devices_;
  const PlacementClasses classes_;
  const std::stop_token stop_;
  std::vector<NodeIndex> order_;
  std::optional<Schedule> best_;
  std::int64_t tried_ = 0;
};

}  // namespace

PlacementClasses::PlacementClasses(const Dag& dag) {
  std::vector<std::int32_t> of_group(at(dag.colocation_count()), -1);
  for (NodeIndex node = 0; at(node) < dag.size(); ++node) {
    const std::int32_t group = dag.colocation(node);
    std::int32_t alone = -1;
    std::int32_t& mine = group < 0 ? alone : of_group[at(group)];
    if (mine < 0) {
      mine = static_cast<std::int32_t>(nodes.size());
      nodes.emplace_back();
    }
    of_node.push_back(mine);
    nodes[at(mine)].push_back(node);
  }
}

std::vector<NodeIndex> topological_by(const Dag& dag, std::span<const std::int64_t> key) {
  using Entry = std::pair<std::int64_t, NodeIndex>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> ready;
  std::vector<std::size_t> waits_for;
  for (NodeIndex node = 0; at(node) < dag.size(); ++node) {
    waits_for.push_back(dag.predecessors(node).size());
    if (waits_for.back() == 0) ready.emplace(key[at(node)], node);
  }
  std::vector<NodeIndex> order;
  while (!ready.empty()) {
    order.push_back(ready.top().second);
    ready.pop();
    for (const DagEdge& edge : dag.successors(order.back()))
      if (--waits_for[at(edge.node)] == 0) ready.emplace(key[at(edge.node)], edge.node);
  }
  return order;
}

Schedule schedule_in_order(const Instance& instance, std::span<const DeviceId> device,
                           std::span<const NodeIndex> order) {
  Scheduling scheduling(instance.dag, instance.transfers, instance.cluster, {});
  for (const NodeIndex node : order) scheduling.place(node, device[at(node)]);
  return std::move(scheduling).finished();
}

Schedule best_list_schedule(const Instance& instance, std::stop_token stop) {
  Improver improver(instance, std::move(stop));
  improver.start_from(improver.heft());
  improver.start_from(improver.filled());
  for (std::size_t d = 0; d < instance.cluster.device_count(); ++d)
    improver.start_from(std::vector<DeviceId>(instance.dag.size(), DeviceId(d)));
  return std::move(improver).take();
}

}  // namespace strato::exact
