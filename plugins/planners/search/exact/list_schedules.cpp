#include "plugins/planners/search/exact/list_schedules.h"

#include <algorithm>
#include <optional>
#include <queue>
#include <utility>

#include "core/schedule/dag/levels.h"
#include "core/schedule/dag/transfer_times.h"

namespace strato::exact {
namespace {

Bytes overflow(const Schedule& schedule, const Cluster& cluster) {
  Bytes beyond;
  for (std::size_t d = 0; d < schedule.memory.size(); ++d)
    beyond += std::max(Bytes(0), schedule.memory[d] - cluster.gpu(DeviceId(d)).memory);
  return beyond;
}

class Improver {
 public:
  Improver(const Dag& dag, const TransferTimes& transfers, const Cluster& cluster,
           std::stop_token stop)
      : dag_(dag), transfers_(transfers), cluster_(cluster), stop_(std::move(stop)) {
    std::vector<std::int64_t> key;
    for (const Nanos level : b_levels(dag, mean_weights(dag, cluster, transfers)))
      key.push_back(-level.value);
    order_ = topological_by(dag, key);
    list_classes();
  }

  void start_from(const std::vector<DeviceId>& device) {
    Schedule schedule = of(device);
    bool better = true;
    for (int pass = 0; better && pass < kPasses; ++pass) {
      better = false;
      for (const std::vector<NodeIndex>& nodes : classes_)
        if (move(nodes, schedule)) better = true;
    }
    if (!best_ || is_better(schedule, *best_)) best_ = std::move(schedule);
  }

  std::vector<DeviceId> heft() const {
    Scheduling scheduling(dag_, transfers_, cluster_, {});
    for (const NodeIndex node : order_) {
      std::optional<DeviceId> device = scheduling.demanded(node);
      for (std::size_t d = 0; d < cluster_.device_count() && !scheduling.demanded(node); ++d) {
        if (!scheduling.has_room(node, DeviceId(d))) continue;
        if (!device || scheduling.earliest_finish(node, DeviceId(d)) <
                           scheduling.earliest_finish(node, *device))
          device = DeviceId(d);
      }
      scheduling.place(node, device.value_or(scheduling.emptiest()));
    }
    return std::move(scheduling).finished().device;
  }

  std::vector<DeviceId> alone(DeviceId device) const {
    return std::vector<DeviceId>(dag_.size(), device);
  }

  // One device after another is filled with classes, in the order of their first nodes.
  std::vector<DeviceId> filled() const {
    std::vector<DeviceId> device_of(dag_.size());
    std::size_t device = 0;
    Bytes used;
    for (const std::vector<NodeIndex>& nodes : classes_) {
      Bytes needed;
      for (const NodeIndex node : nodes) needed += dag_.memory(node);
      if (used + needed > cluster_.gpu(DeviceId(device)).memory &&
          device + 1 < cluster_.device_count()) {
        ++device;
        used = Bytes(0);
      }
      used += needed;
      for (const NodeIndex node : nodes)
        device_of[static_cast<std::size_t>(node)] = DeviceId(device);
    }
    return device_of;
  }

  Schedule take() && { return std::move(*best_); }

 private:
  static constexpr int kPasses = 20;
  static constexpr std::int64_t kMostTried = 20'000;  // schedules: a second or two

  void list_classes() {
    std::vector<std::int32_t> class_of(static_cast<std::size_t>(dag_.colocation_count()), -1);
    for (std::size_t i = 0; i < dag_.size(); ++i) {
      const auto node = static_cast<NodeIndex>(i);
      const std::int32_t group = dag_.colocation(node);
      std::int32_t alone = -1;
      std::int32_t& mine = group < 0 ? alone : class_of[static_cast<std::size_t>(group)];
      if (mine < 0) {
        mine = static_cast<std::int32_t>(classes_.size());
        classes_.emplace_back();
      }
      classes_[static_cast<std::size_t>(mine)].push_back(node);
    }
  }

  Schedule of(const std::vector<DeviceId>& device) const {
    return schedule_in_order(dag_, transfers_, cluster_, device, order_);
  }

  bool is_better(const Schedule& a, const Schedule& b) const {
    return std::pair(overflow(a, cluster_), a.makespan) <
           std::pair(overflow(b, cluster_), b.makespan);
  }

  bool move(const std::vector<NodeIndex>& nodes, Schedule& schedule) {
    bool better = false;
    for (std::size_t d = 0; d < cluster_.device_count() && !stop_.stop_requested(); ++d) {
      if (tried_ >= kMostTried) break;
      std::vector<DeviceId> device = schedule.device;
      if (device[static_cast<std::size_t>(nodes.front())] == DeviceId(d)) continue;
      for (const NodeIndex node : nodes) device[static_cast<std::size_t>(node)] = DeviceId(d);
      ++tried_;
      Schedule moved = of(device);
      if (!is_better(moved, schedule)) continue;
      schedule = std::move(moved);
      better = true;
    }
    return better;
  }

  const Dag& dag_;
  const TransferTimes& transfers_;
  const Cluster& cluster_;
  std::stop_token stop_;
  std::vector<NodeIndex> order_;
  std::vector<std::vector<NodeIndex>> classes_;
  std::optional<Schedule> best_;
  std::int64_t tried_ = 0;
};

}  // namespace

std::vector<NodeIndex> topological_by(const Dag& dag, std::span<const std::int64_t> key) {
  using Entry = std::pair<std::int64_t, NodeIndex>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> ready;
  std::vector<std::size_t> waits_for;
  for (std::size_t i = 0; i < dag.size(); ++i) {
    const auto node = static_cast<NodeIndex>(i);
    waits_for.push_back(dag.predecessors(node).size());
    if (waits_for.back() == 0) ready.emplace(key[i], node);
  }
  std::vector<NodeIndex> order;
  while (!ready.empty()) {
    const NodeIndex node = ready.top().second;
    ready.pop();
    order.push_back(node);
    for (const DagEdge& edge : dag.successors(node)) {
      const auto next = static_cast<std::size_t>(edge.node);
      if (--waits_for[next] == 0) ready.emplace(key[next], edge.node);
    }
  }
  return order;
}

Schedule schedule_in_order(const Dag& dag, const TransferTimes& transfers, const Cluster& cluster,
                           std::span<const DeviceId> device, std::span<const NodeIndex> order) {
  Schedule schedule;
  schedule.device.assign(device.begin(), device.end());
  schedule.start.resize(dag.size());
  schedule.finish.resize(dag.size());
  schedule.memory.resize(cluster.device_count());
  std::vector<DeviceTimeline> timelines(cluster.device_count());
  for (const NodeIndex node : order) {
    const auto at = static_cast<std::size_t>(node);
    const DeviceId here = device[at];
    const Nanos time = dag.time(node, cluster.device(here).type);
    Nanos start;
    for (const DagEdge& edge : dag.predecessors(node)) {
      const auto before = static_cast<std::size_t>(edge.node);
      start = std::max(start,
                       schedule.finish[before] + transfers.time(edge.edge, device[before], here));
    }
    if (time > Nanos()) {
      start = timelines[here.index()].earliest(start, time);
      timelines[here.index()].occupy(start, time);
    }
    schedule.start[at] = start;
    schedule.finish[at] = start + time;
    schedule.makespan = std::max(schedule.makespan, start + time);
    schedule.memory[here.index()] += dag.memory(node);
  }
  schedule.fits = overflow(schedule, cluster) == Bytes(0);
  return schedule;
}

Schedule best_list_schedule(const Dag& dag, const TransferTimes& transfers, const Cluster& cluster,
                            std::stop_token stop) {
  Improver improver(dag, transfers, cluster, std::move(stop));
  improver.start_from(improver.heft());
  improver.start_from(improver.filled());
  for (std::size_t d = 0; d < cluster.device_count(); ++d)
    improver.start_from(improver.alone(DeviceId(d)));
  return std::move(improver).take();
}

}  // namespace strato::exact
