// Small dags with exact costs, for list schedulers: what they make, and the best that there is.
#pragma once

#include <algorithm>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "core/base/random.h"
#include "core/schedule/dag/levels.h"
#include "core/schedule/dag/transfer_times.h"
#include "core/schedule/list/schedule.h"
#include "tests/core/schedule/schedule_check.h"
#include "tests/core/search/toy.h"

namespace strato::toy {

// A transfer takes a nanosecond a byte between all devices.
class ByteCosts final : public CostModel {
 public:
  Nanos compute(OpId, GpuTypeId, std::int64_t) const override { return {}; }
  Nanos local_move(GpuTypeId, Bytes) const override { return {}; }
  Nanos transfer(const Path&, Bytes bytes) const override { return Nanos(bytes.value); }
  CollectiveCost collective(Collective, std::span<const DeviceId>, Bytes) const override {
    return {};
  }
  const Digest& digest() const override { return digest_; }

 private:
  Digest digest_;
};

struct Case {
  Dag dag;
  std::shared_ptr<const Cluster> cluster;
  TransferTimes transfers;

  Case(DagBuilder builder, std::shared_ptr<const Cluster> on)
      : dag(std::move(builder).build()),
        cluster(std::move(on)),
        transfers(dag, *cluster, ByteCosts()) {}
  std::size_t devices() const { return cluster->device_count(); }
  Weights mean() const { return mean_weights(dag, *cluster, transfers); }
  std::string problem_with(const Schedule& schedule) const {
    return strato::problem_with(schedule, dag, transfers, *cluster);
  }
};

struct DagShape {
  int nodes = 6;
  int edges_percent = 40;
  int time_from = 0, time_to = 9;
  int bytes_to = 9;
  int gigabytes_to = 0;
  int colocated_percent = 0;
};

inline DagBuilder random_dag(const DagShape& shape, std::size_t gpu_types, Random& random) {
  const auto below = [&](int limit) {
    return static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(limit)));
  };
  DagBuilder builder(gpu_types);
  for (int i = 0; i < shape.nodes; ++i) {
    std::vector<Nanos> times;
    for (std::size_t g = 0; g < gpu_types; ++g)
      times.emplace_back(shape.time_from + below(shape.time_to - shape.time_from + 1));
    const bool together = below(100) < shape.colocated_percent;
    builder.add_node(times, Bytes(below(shape.gigabytes_to + 1) << 30),
                     together ? static_cast<std::int32_t>(below(2)) : -1);
  }
  for (int i = 0; i < shape.nodes; ++i)
    for (int j = i + 1; j < shape.nodes; ++j)
      if (below(100) < shape.edges_percent)
        builder.add_edge(i, j, Bytes(below(shape.bytes_to + 1)));
  return builder;
}

// The least makespan over all orders and devices, by trying them all; transfers cost nothing when
// `free`. Memory and co-location do not count.
class Optimum {
 public:
  Optimum(const Case& of, bool free)
      : case_(of),
        free_(free),
        device_(of.dag.size()),
        finish_(of.dag.size()),
        idle_(of.devices()),
        missing_(of.dag.size()),
        done_(of.dag.size()) {
    for (std::size_t i = 0; i < missing_.size(); ++i)
      missing_[i] = of.dag.predecessors(static_cast<NodeIndex>(i)).size();
    go(0, Nanos());
  }
  Nanos makespan() const { return best_; }

 private:
  void go(std::size_t count, Nanos end) {
    if (end >= best_) return;
    if (count == case_.dag.size()) {
      best_ = end;
      return;
    }
    for (std::size_t i = 0; i < case_.dag.size(); ++i) {
      if (done_[i] || missing_[i] > 0) continue;
      for (std::size_t d = 0; d < case_.devices(); ++d) try_at(i, DeviceId(d), count, end);
    }
  }

  void try_at(std::size_t i, DeviceId device, std::size_t count, Nanos end) {
    const auto node = static_cast<NodeIndex>(i);
    const Nanos idle = idle_[device.index()];
    Nanos start = idle;
    for (const DagEdge& in : case_.dag.predecessors(node)) {
      const auto from = static_cast<std::size_t>(in.node);
      const Nanos there = free_ ? Nanos() : case_.transfers.time(in.edge, device_[from], device);
      start = std::max(start, finish_[from] + there);
    }
    finish_[i] = start + case_.dag.time(node, case_.cluster->device(device).type);
    device_[i] = device;
    idle_[device.index()] = finish_[i];
    done_[i] = true;
    for (const DagEdge& out : case_.dag.successors(node)) --missing_[at(out)];
    go(count + 1, std::max(end, finish_[i]));
    for (const DagEdge& out : case_.dag.successors(node)) ++missing_[at(out)];
    done_[i] = false;
    idle_[device.index()] = idle;
  }
  static std::size_t at(const DagEdge& edge) { return static_cast<std::size_t>(edge.node); }

  const Case& case_;
  bool free_;
  std::vector<DeviceId> device_;
  std::vector<Nanos> finish_, idle_;
  std::vector<std::size_t> missing_;
  std::vector<bool> done_;
  Nanos best_ = Nanos::max();
};

// The most that transfers along one path add up to.
inline Nanos longest_transfers(const Case& of) {
  Weights weights = longest_weights(of.dag, of.transfers);
  weights.node.assign(of.dag.size(), Nanos());
  const auto levels = b_levels(of.dag, weights);
  return levels.empty() ? Nanos() : *std::ranges::max_element(levels);
}

inline DagBuilder chain_dag(int nodes, std::int64_t time, std::int64_t bytes) {
  DagBuilder builder(1);
  const Nanos times[] = {Nanos(time)};
  for (int i = 0; i < nodes; ++i) {
    builder.add_node(times, Bytes(1));
    if (i > 0) builder.add_edge(i - 1, i, Bytes(bytes));
  }
  return builder;
}

// One node, `leaves` after it, and one after those.
inline DagBuilder star_dag(int leaves, std::int64_t time, std::int64_t bytes) {
  DagBuilder builder(1);
  const Nanos times[] = {Nanos(time)};
  for (int i = 0; i < leaves + 2; ++i) builder.add_node(times, Bytes(1));
  for (int i = 1; i <= leaves; ++i) {
    builder.add_edge(0, i, Bytes(bytes));
    builder.add_edge(i, leaves + 1, Bytes(bytes));
  }
  return builder;
}

inline DagBuilder scattered_dag(int nodes, std::int64_t time, Bytes memory,
                                std::int32_t colocation = -1, std::size_t gpu_types = 1) {
  DagBuilder builder(gpu_types);
  const std::vector<Nanos> times(gpu_types, Nanos(time));
  for (int i = 0; i < nodes; ++i) builder.add_node(times, memory, colocation);
  return builder;
}

inline bool are_equal(const Schedule& a, const Schedule& b) {
  return a.device == b.device && a.start == b.start && a.finish == b.finish &&
         a.makespan == b.makespan && a.memory == b.memory && a.fits == b.fits;
}

}  // namespace strato::toy
