// Random edits for the tests of DPOS, and Algorithm 1 of FastT once more in the plainest way: what
// the real one is compared with.
#pragma once

#include <algorithm>
#include <vector>

#include "core/schedule/dag/transfer_times.h"
#include "core/schedule/list/dpos.h"
#include "core/schedule/list/schedule.h"
#include "tests/core/schedule/dag_cases.h"

namespace strato::dpos_cases {

// Replaces a node of the first graph by 1 to 4 others, with nodes on its way in and out as
// SplitOperation has them.
inline DagEdit random_split(Random& random, const Dpos& dpos, const dag_cases::Kind& kind) {
  const EditableDag& dag = dpos.dag();
  NodeIndex node = 0;
  std::vector<NodeIndex> whole;
  for (std::size_t i = 0; i < kind.nodes; ++i)
    if (dag.has(static_cast<NodeIndex>(i))) whole.push_back(static_cast<NodeIndex>(i));
  if (whole.empty()) return {};
  node = whole[random.below(whole.size())];
  DagEdit edit;
  edit.removed.push_back(node);
  const auto add = [&] {
    DagEdit::Node added;
    for (std::size_t t = 0; t < kind.types; ++t)
      added.times.emplace_back(static_cast<std::int64_t>(random.below(kind.times)));
    added.memory = Bytes(static_cast<std::int64_t>(random.below(kind.memory)));
    added.place = node;
    edit.added.push_back(added);
    return static_cast<NodeIndex>(dag.size() + edit.added.size() - 1);
  };
  const auto bytes = [&] { return Bytes(static_cast<std::int64_t>(random.below(kind.bytes))); };
  std::vector<NodeIndex> from, parts;
  for (const auto& half : dag.predecessors(node)) {
    from.push_back(random.below(2) == 0 ? half.node : add());
    if (from.back() != half.node) edit.edges.push_back({half.node, from.back(), bytes()});
  }
  for (std::uint64_t p = 1 + random.below(4); p > 0; --p) {
    parts.push_back(add());
    for (const NodeIndex source : from) edit.edges.push_back({source, parts.back(), bytes()});
  }
  for (const auto& half : dag.successors(node)) {
    const NodeIndex join = add();
    for (const NodeIndex part : parts) edit.edges.push_back({part, join, bytes()});
    edit.edges.push_back({join, half.node, bytes()});
  }
  return edit;
}

// Algorithm 1, line by line, with nothing remembered and nothing shared with the real one but the
// dag and its transfer times.
class PlainDpos {
 public:
  PlainDpos(const Dag& dag, const TransferTimes& transfers, const Cluster& cluster,
            const DposOptions& options)
      : dag_(dag), transfers_(transfers), cluster_(cluster), options_(options) {
    for (std::size_t d = 0; d < cluster.device_count(); ++d) {
      const DeviceId device(d);
      left_.push_back(Bytes(static_cast<std::int64_t>(
          static_cast<double>(cluster.gpu(device).memory.value) * options.memory)));
      if (options.devices.empty() || std::ranges::count(options.devices, device) > 0)
        devices_.push_back(device);
    }
    rank();
    std::vector<NodeIndex> order;
    for (std::size_t i = 0; i < dag.size(); ++i) order.push_back(static_cast<NodeIndex>(i));
    std::ranges::stable_sort(order, [&](NodeIndex a, NodeIndex b) { return rank_[a] > rank_[b]; });
    if (!order.empty()) find_path(order[0]);
    schedule.device.resize(dag.size());
    schedule.start.resize(dag.size());
    schedule.finish.resize(dag.size());
    schedule.memory.resize(cluster.device_count());
    for (const NodeIndex node : order) place(node);
  }
  Schedule schedule;

 private:
  Nanos time(NodeIndex node, DeviceId d) const { return dag_.time(node, cluster_.device(d).type); }

  void rank() {
    rank_.resize(dag_.size());
    for (std::size_t i = dag_.size(); i-- > 0;) {
      const auto node = static_cast<NodeIndex>(i);
      Nanos longest, after;
      for (const DeviceId d : devices_) longest = std::max(longest, time(node, d));
      for (const DagEdge& edge : dag_.successors(node))
        after = std::max(after, transfers_.longest(edge.edge) + rank_[edge.node]);
      rank_[i] = longest + after;
    }
  }

  void find_path(NodeIndex node) {
    for (;;) {
      path_.push_back(node);
      NodeIndex next = -1;
      for (const DagEdge& edge : dag_.successors(node))
        if (next < 0 || rank_[edge.node] > rank_[next]) next = edge.node;
      if (next < 0) return;
      node = next;
    }
  }

  Nanos ready(NodeIndex node, DeviceId d) const {
    Nanos ready;
    for (const DagEdge& edge : dag_.predecessors(node))
      ready = std::max(ready, schedule.finish[edge.node] +
                                  transfers_.time(edge.edge, schedule.device[edge.node], d));
    return ready;
  }

  // The earliest start is when inputs are there, or a node on the device ends.
  Nanos start(NodeIndex node, DeviceId d) const {
    std::vector<Nanos> moments{ready(node, d)};
    for (const NodeIndex other : placed_)
      if (schedule.device[other] == d && time(other, d) > Nanos())
        moments.push_back(schedule.finish[other]);
    std::ranges::sort(moments);
    for (const Nanos moment : moments)
      if (moment >= ready(node, d) && is_idle(d, moment, time(node, d))) return moment;
    return {};
  }
  bool is_idle(DeviceId d, Nanos from, Nanos duration) const {
    // A node without duration stands in idle time, too, not between two nodes that touch.
    bool ends = false, begins = false;
    for (const NodeIndex other : placed_) {
      if (schedule.device[other] != d || time(other, d) == Nanos()) continue;
      if (schedule.start[other] < from + duration && from < schedule.finish[other]) return false;
      ends = ends || schedule.finish[other] == from;
      begins = begins || schedule.start[other] == from;
    }
    return duration > Nanos() || !begins || (from == Nanos() ? false : !ends);
  }

  Bytes need(NodeIndex node) const {
    const std::int32_t group = dag_.colocation(node);
    if (group < 0) return dag_.memory(node);
    Bytes all;
    for (std::size_t i = 0; i < dag_.size(); ++i)
      if (dag_.colocation(static_cast<NodeIndex>(i)) == group)
        all += dag_.memory(static_cast<NodeIndex>(i));
    return all;
  }
  DeviceId group_device(NodeIndex node) const {
    for (const NodeIndex other : placed_)
      if (dag_.colocation(node) >= 0 && dag_.colocation(other) == dag_.colocation(node))
        return schedule.device[other];
    return {};
  }

  DeviceId choose(NodeIndex first) const {
    DeviceId best;
    double least = 0;
    for (const DeviceId d : devices_) {
      Bytes left = left_[d.index()];
      double sum = 0, count = 0;
      std::vector<std::int32_t> here;
      for (auto at = std::ranges::find(path_, first); at != path_.end(); ++at) {
        const std::int32_t group = dag_.colocation(*at);
        const DeviceId demanded = group_device(*at);
        if (demanded.valid() && demanded != d) continue;
        if (!demanded.valid() && (group < 0 || std::ranges::count(here, group) == 0)) {
          if (need(*at) > left) break;
          left -= need(*at);
          if (group >= 0) here.push_back(group);
        }
        sum += static_cast<double>(time(*at, d).value);
        ++count;
      }
      if (count == 0 || (best.valid() && sum / count >= least)) continue;
      best = d;
      least = sum / count;
    }
    return best;
  }

  void place(NodeIndex node) {
    DeviceId device = group_device(node);
    const bool is_free = !device.valid();
    if (is_free && options_.critical_path_device && std::ranges::count(path_, node) > 0) {
      if (!path_device_.valid() || need(node) > left_[path_device_.index()])
        if (const DeviceId next = choose(node); next.valid()) path_device_ = next;
      if (path_device_.valid() && need(node) <= left_[path_device_.index()]) device = path_device_;
    } else if (is_free) {
      for (const DeviceId d : devices_) {
        if (need(node) > left_[d.index()]) continue;
        if (!device.valid() ||
            start(node, d) + time(node, d) < start(node, device) + time(node, device))
          device = d;
      }
    }
    if (!device.valid())
      device =
          *std::ranges::max_element(devices_, {}, [&](DeviceId d) { return left_[d.index()]; });
    schedule.start[node] = start(node, device);
    schedule.finish[node] = schedule.start[node] + time(node, device);
    schedule.device[node] = device;
    schedule.makespan = std::max(schedule.makespan, schedule.finish[node]);
    schedule.memory[device.index()] += dag_.memory(node);
    if (is_free) left_[device.index()] -= need(node);
    placed_.push_back(node);
  }

  const Dag& dag_;
  const TransferTimes& transfers_;
  const Cluster& cluster_;
  DposOptions options_;
  std::vector<DeviceId> devices_;
  std::vector<Bytes> left_;
  std::vector<Nanos> rank_;
  std::vector<NodeIndex> path_, placed_;
  DeviceId path_device_;
};

}  // namespace strato::dpos_cases
