// Random dags and plain costs for the tests of dags, levels and schedules.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "core/base/random.h"
#include "core/cluster/read/cluster_reader.h"
#include "core/cluster/spec/gpu_catalogue.h"
#include "core/schedule/dag/dag.h"

namespace strato::dag_cases {

// V100s in one machine, GTX 1080 Tis in another.
inline std::shared_ptr<const Cluster> cluster(int fast, int slow = 0) {
  const auto machine = [](const std::string& name, const std::string& type, int count) {
    return R"({"name": ")" + name + R"(", "gpus": [{"type": ")" + type + R"(", "count": )" +
           std::to_string(count) +
           R"(}], "fabric": {"bandwidth_GBps": 100, "latency_us": 2},
               "nic": {"bandwidth_GBps": 10, "latency_us": 5}})";
  };
  std::string machines = machine("fast", "V100-SXM2-32GB", fast);
  if (slow > 0) machines += ", " + machine("slow", "GTX-1080-Ti", slow);
  return std::make_shared<const Cluster>(parse_cluster(
      R"({"format": "stratoscope-cluster", "version": 1, "name": "toy", "machines": [)" + machines +
          R"(], "network": {"latency_us": 1}})",
      "toy", GpuCatalogue::bundled()));
}

// A byte takes a nanosecond inside a machine and three between machines.
class ByteCost final : public CostModel {
 public:
  Nanos compute(OpId, GpuTypeId, std::int64_t) const override { return Nanos(1); }
  Nanos local_move(GpuTypeId, Bytes) const override { return Nanos(1); }
  Nanos transfer(const Path& path, Bytes bytes) const override {
    return Nanos(bytes.value * (path.bandwidth > 50e9 ? 1 : 3));
  }
  CollectiveCost collective(Collective, std::span<const DeviceId>, Bytes) const override {
    return {};
  }
  const Digest& digest() const override { return digest_; }

 private:
  Digest digest_;
};

struct Kind {
  std::size_t nodes = 10, types = 1;
  std::uint64_t times = 10, bytes = 10, memory = 10;  // from 0 to one less
  std::uint64_t one_edge_in = 3;                      // of all pairs
  std::uint64_t groups = 0;
};

inline Dag random_dag(Random& random, const Kind& kind) {
  DagBuilder builder(kind.types);
  for (std::size_t i = 0; i < kind.nodes; ++i) {
    std::vector<Nanos> times;
    for (std::size_t t = 0; t < kind.types; ++t)
      times.emplace_back(static_cast<std::int64_t>(random.below(kind.times)));
    const bool grouped = kind.groups > 0 && random.below(3) == 0;
    builder.add_node(times, Bytes(static_cast<std::int64_t>(random.below(kind.memory))),
                     grouped ? static_cast<std::int32_t>(random.below(kind.groups)) : -1);
  }
  for (std::size_t to = 1; to < kind.nodes; ++to)
    for (std::size_t from = 0; from < to; ++from)
      if (random.below(kind.one_edge_in) == 0)
        builder.add_edge(static_cast<NodeIndex>(from), static_cast<NodeIndex>(to),
                         Bytes(static_cast<std::int64_t>(random.below(kind.bytes))));
  return std::move(builder).build();
}

struct Edge {
  NodeIndex from, to;
  std::int64_t bytes;
};
// One GPU type.
inline Dag dag(const std::vector<std::int64_t>& times, const std::vector<Edge>& edges,
               const std::vector<std::int32_t>& groups = {},
               const std::vector<std::int64_t>& memory = {}) {
  DagBuilder builder(1);
  for (std::size_t i = 0; i < times.size(); ++i) {
    const Nanos time(times[i]);
    builder.add_node(std::span(&time, 1), Bytes(memory.empty() ? 0 : memory[i]),
                     groups.empty() ? -1 : groups[i]);
  }
  for (const Edge& edge : edges) builder.add_edge(edge.from, edge.to, Bytes(edge.bytes));
  return std::move(builder).build();
}

inline Dag chain(std::int32_t nodes) {
  std::vector<Edge> edges;
  for (std::int32_t i = 1; i < nodes; ++i) edges.push_back({i - 1, i, 1});
  return dag(std::vector<std::int64_t>(static_cast<std::size_t>(nodes), 1), edges);
}
inline Dag star(std::int32_t leaves) {  // one before all, one after all
  std::vector<Edge> edges;
  for (std::int32_t i = 1; i <= leaves; ++i) {
    edges.push_back({0, i, 1});
    edges.push_back({i, leaves + 1, 1});
  }
  return dag(std::vector<std::int64_t>(static_cast<std::size_t>(leaves) + 2, 1), edges);
}

}  // namespace strato::dag_cases
