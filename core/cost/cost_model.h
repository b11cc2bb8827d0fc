// What things cost: the one interface behind which roofline, profiles and fitted models stand.
// A cost model is bound to one graph and one cluster; immutable, safe from any thread.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "core/base/units.h"
#include "core/cluster/cluster.h"
#include "core/graph/graph.h"

namespace strato {

enum class Collective : std::uint8_t { AllReduce, AllGather, Broadcast, Reduce, ReduceScatter };
std::string_view name_of(Collective kind);

struct CollectiveCost {
  Nanos duration;
  std::vector<LinkId> links;  // ascending: the directed links its algorithm uses
};

class CostModel {
 public:
  virtual ~CostModel() = default;

  // Time of `op` on `samples` of the graph's batch (1 to batch; batch for ops that do not split).
  virtual Nanos compute(OpId op, GpuTypeId gpu, std::int64_t samples) const = 0;
  // A local reshuffle (split, concat, sum) that reads and writes `moved` bytes in all.
  virtual Nanos local_move(GpuTypeId gpu, Bytes moved) const = 0;
  virtual Nanos transfer(const Path& path, Bytes bytes) const = 0;
  // `devices` ascending, at least two. bytes: the full tensor's (for AllGather: of the result).
  virtual CollectiveCost collective(Collective kind, std::span<const DeviceId> devices,
                                    Bytes bytes) const = 0;
  virtual const Digest& digest() const = 0;
};

// First version: roofline per op and GPU (peak rate x an efficiency by op family against memory bandwidth,
// plus launch overhead per kernel), latency + bytes / bandwidth for transfers, ring collectives
// (all-reduce: 2 (n-1)/n bytes over the slowest hop, 2 (n-1) latencies).
std::shared_ptr<const CostModel> make_analytic_cost_model(std::shared_ptr<const Graph> graph,
                                                          std::shared_ptr<const Cluster> cluster);

// Mean over the cluster's devices of each op's full-batch time: the weights for grouping.
std::vector<Nanos> mean_op_times(const Graph& graph, const Cluster& cluster, const CostModel& cost);

}  // namespace strato
