// The times of ops and transfers: roofline, profiles and fitted models stand behind this one
// interface. A cost model is bound to one graph and one cluster; immutable, safe from any thread.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/units.h"
#include "core/cluster/value/cluster.h"
#include "core/graph/value/graph.h"

namespace strato {

struct Calibration;  // calibration.h

enum class Collective : std::uint8_t {
  AllReduce,
  AllGather,
  Broadcast,
  Reduce,
  ReduceScatter,
  AllToAll,
};
std::string_view name_of(Collective kind);

// The order in which a collective goes through the network; as NCCL does, the cheapest is taken.
enum class CollectiveAlgorithm : std::uint8_t { Ring, Tree, Hierarchical, Pairwise };
std::string_view name_of(CollectiveAlgorithm algorithm);

struct CollectiveCost {
  Nanos duration;
  std::vector<LinkId> links;  // ascending: the directed links its algorithm uses
  Nanos latency;              // part of the duration that does not depend on bandwidth
  CollectiveAlgorithm algorithm = CollectiveAlgorithm::Ring;
};

// The source of a cost tells how sure it is.
enum class CostSource : std::uint8_t {
  Analytic,  // roofline, latency + bytes / bandwidth
  Fit,       // a regression over measurements, between or beyond them
  Profile,   // measured just so
};

struct Estimate {
  Nanos time;
  CostSource source = CostSource::Analytic;
  double error = 0;    // relative standard error: 0.1 means +-10 %
  std::string detail;  // for people: "measured at 8 and 16 samples on V100, 2 % spread"
};

class CostModel {
 public:
  virtual ~CostModel() = default;

  // Time of `op` on `samples` of the graph's batch (1 to batch; batch for ops that do not split).
  virtual Nanos compute(OpId op, GpuTypeId gpu, std::int64_t samples) const = 0;
  // A local reshuffle (split, concat, sum) that reads and writes `moved` bytes in all.
  virtual Nanos local_move(GpuTypeId gpu, Bytes moved) const = 0;
  virtual Nanos transfer(const Path& path, Bytes bytes) const = 0;
  // `devices` ascending, at least two. bytes: the full tensor's (for AllGather: of the result; for
  // AllToAll: of what all members have together, an equal part each).
  virtual CollectiveCost collective(Collective kind, std::span<const DeviceId> devices,
                                    Bytes bytes) const = 0;
  virtual const Digest& digest() const = 0;

  // What the process that drives a GPU needs to start the op's kernels. It starts all of a step's
  // one after the other, ahead of the GPU where it can. Nothing: it is never the bottleneck.
  virtual Nanos issue(OpId) const { return {}; }
  virtual Nanos issue_collective() const { return {}; }
  virtual Nanos issue_local_move() const { return {}; }
  // Does it start what reads something that another device sends once that has come, not ahead?
  // (Megatron-LM's exchange between pipeline stages synchronises each device with its process.)
  virtual bool issue_after_transfers() const { return false; }

  // Where its maker and its readers are on one device, is the tensor never in memory? A kernel
  // makes and reads it (fused pointwise ops).
  virtual bool is_passed_on(TensorId) const { return false; }
  // Does the kernel that makes the gradient add it to what earlier micro-batches made of it, so
  // that neither it nor what it is cast from is ever in memory (Megatron-LM's gradient accumulation
  // fusion)?
  virtual bool adds_up(TensorId) const { return false; }

  // The same costs with their source. `time` is exactly what the function above returns.
  virtual Estimate explain_compute(OpId op, GpuTypeId gpu, std::int64_t samples) const {
    return {compute(op, gpu, samples), CostSource::Analytic, 0, {}};
  }
  virtual Estimate explain_transfer(const Path& path, Bytes bytes) const {
    return {transfer(path, bytes), CostSource::Analytic, 0, {}};
  }
  virtual Estimate explain_collective(Collective kind, std::span<const DeviceId> devices,
                                      Bytes bytes) const {
    return {collective(kind, devices, bytes).duration, CostSource::Analytic, 0, {}};
  }
};

// Mean over the cluster's devices of each op's full-batch time: the weights for grouping.
std::vector<Nanos> mean_op_times(const Graph& graph, const Cluster& cluster, const CostModel& cost);

}  // namespace strato
