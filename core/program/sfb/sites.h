// Where sufficient factor broadcasting can be applied: the ops that make parameter gradients, each
// with the subgraph around it (V and E of TAG 4.2.3); how they stand under a strategy; and the
// integer program that this makes of one, with its weights (see SfbCosts). Private to this folder.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/digest.h"
#include "core/program/sfb/sfb.h"
#include "core/program/sfb/sfb_problem.h"
#include "core/program/value/tables.h"
#include "core/strategy/value/strategy.h"

namespace strato {

struct SfbSite {
  struct Edge {
    TensorId tensor;
    int maker = -1;            // in `ops`; -1: outside of the subgraph, so never duplicated
    std::vector<int> readers;  // in `ops`, ascending
  };
  OpId producer;                    // g
  std::vector<TensorId> gradients;  // of parameters, made by g as sums over the batch
  std::vector<OpId> updates;        // l, by gradient
  std::vector<OpId> ops;            // V: g, then its ancestors, nearest first
  std::vector<Edge> edges;          // E: what the ops read of what other ops make
};

// The subgraph stays in g's op group and holds at most 64 ops that are at most `max_distance`
// tensors away from g. Further ops could only pay by a cut that is narrower than all
// nearer ones, and every op on the way costs time. By g, ascending.
std::vector<SfbSite> sfb_sites(const Tables& tables, int max_distance);

// What the integer programs need to know of a strategy. The rules are those of lowering's first
// pass (placement.h).
class Replicas {
 public:
  struct Group {
    Mode mode = Mode::ReplicateAllReduce;
    std::vector<DeviceId> devices;      // that have samples, ascending
    std::vector<std::int64_t> samples;  // of each, when it is sharded
    bool spread = false;                // model parallel on several devices
    Digest shape;                       // of devices and samples
  };
  Replicas(const Tables& tables, const Strategy& complete);

  const Group& group(OpId op) const { return groups_[tables_.grouping->group_of(op)]; }
  bool is_sharded(OpId op) const { return sharded_[op] != 0; }
  // Does every one of the devices run the whole op?
  bool is_whole_on(OpId op, const std::vector<DeviceId>& devices) const;

 private:
  void place_groups(const Strategy& complete);
  bool may_shard(OpId op) const;

  const Tables& tables_;
  IdVector<GroupId, Group> groups_;
  IdVector<OpId, char> sharded_;
};

// How the tensors and ops of one site stand under one strategy: all that its program depends on,
// beside the group's devices.
struct SiteState {
  enum class Sync : char { None = 'n', AllReduce = 'a', Ps = 'p' };
  enum class Need : char {
    Free = 'f',    // it is whole on every device, or another op has it gathered anyway
    Gather = 'g',  // slices of the batch
    Sum = 's',     // partial sums: they are synchronised like the gradient
  };
  std::vector<Sync> sync;     // by gradient; None: no need, or its update is elsewhere
  std::vector<char> sharded;  // by op
  std::vector<Need> needs;    // by edge
  bool fused = false;         // AllReduces share their latency

  bool synchronises() const;
};

SiteState state_of(const SfbSite& site, const Tables& tables, const Strategy& complete,
                   const Replicas& replicas);
// Equal for equal programs of this site.
std::string key_of(const SiteState& state, const Replicas::Group& group);

// tau: the least of the paths' bandwidths between two of the devices, bytes per ns, as the cost
// model has it for large transfers.
double bottleneck_bandwidth(const Tables& tables, const std::vector<DeviceId>& devices);

// Op 0 of the program is the site's, op 1 the update; from there on they are one off.
inline std::size_t site_op(int of_program) {
  return static_cast<std::size_t>(of_program <= SfbProblem::kUpdate ? 0 : of_program - 1);
}
SfbProblem sfb_problem_of(const SfbSite& site, const SiteState& state, const Tables& tables,
                          const Replicas::Group& group, SfbCosts costs, double tau);

}  // namespace strato
