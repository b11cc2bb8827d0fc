// Says how one variable is synchronised: the node config of AutoDist 2.2.
//
// Every replica of the variable's group holds the variable and makes a gradient, a partial sum over
// its samples. A variable is divided into parts along one of its axes, or along several
// (Partitioner), and each part goes its own way (Synchronizer):
// - AllReduce: the replicas all-reduce the part's gradient, and each updates its own copy. Parts
//   with the same merge group are reduced as one message.
// - Ps (Reduce, Broadcast): the replicas send the part's gradient to `server`, which sums, updates
//   and sends the new value back. Replicas of a machine with a transfer station send to it, it sums
//   and sends on; the new value comes back the same way (two-level). Only the server holds the
//   part's optimizer state.
// Messages may be encoded (Compressor). Everything but the lossy encodings and staleness keeps the
// results of training: a step means the same as on one device.
//
// Bounded staleness (Ps only) lets a step begin before the gradients of the steps before it have
// been applied. Every step lasts until what it started has ended, so replicas are never more than
// one step apart; what is bounded is how old the values are that they read:
// - 1: step t sends the gradients of step t - 1, which every replica kept, and gets the new values
//   while it computes. Values lack exactly the gradients of the step before.
// - 2 and more: step t sends the gradients of step t - 1 to the server, which keeps the sum, and
//   gets the new values with those of step t - 2. Values lack exactly those of the two steps
//   before; a larger bound changes nothing more, as there is no further step that could wait.
// Before the first step no gradients are under way, which count as zeros: an optimizer that counts
// steps (Adam) counts these, too.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/base/digest.h"
#include "core/cluster/value/cluster.h"
#include "core/strategy/value/part.h"

namespace strato {

enum class Synchroniser : std::uint8_t { AllReduce, Ps };
std::string_view name_of(Synchroniser synchroniser);  // "allreduce", "ps"

// Encodings of gradients as they travel. New values of variables always travel as they are.
enum class Encoding : std::uint8_t {
  None,
  SparseRows,  // only rows that are not zero, with their numbers: of an embedding's gradient, at
               // most one for each index that was looked up. All-gathered instead of all-reduced.
               // Exact.
  Half,        // 16-bit floats; lossy
  TopK,        // the hundredth part with the largest magnitudes, with their places; lossy
  SufficientFactors,  // what the gradient is the product of, instead of it: of a matrix product's
                      // weight. Gathered; every replica multiplies. Exact. Of a whole variable.
  LowRank,            // PowerSGD: of a matrix, thin factors whose product is near it; lossy
};
std::string_view name_of(Encoding encoding);  // "none", "sparse-rows", "half", "top-k", ...
inline bool is_lossy(Encoding encoding) {
  return encoding == Encoding::Half || encoding == Encoding::TopK || encoding == Encoding::LowRank;
}
// Can replicas not reduce a message on its way? Every one gets all terms, and adds them up.
inline bool is_gathered(Encoding encoding) {
  return encoding == Encoding::SparseRows || encoding == Encoding::TopK ||
         encoding == Encoding::LowRank;
}

// Devices are ids, or in files their names (named_strategy.h).
template <class Device>
struct SyncPartOf {
  Synchroniser synchroniser = Synchroniser::AllReduce;
  Encoding encoding = Encoding::None;
  Device server{};                 // Ps only; any device of the cluster
  std::vector<Device> stations{};  // Ps only: transfer stations, ascending, at most one a machine
  std::int32_t merge_group = -1;   // AllReduce only; -1: on its own, or in the strategy's buckets
  // AllReduce only: the reduction sequence, every replica once, in the order of the ring. Empty:
  // the order that suits the network best, as the cost model knows it. The simulation counts it,
  // and transports that can go around it (NCCL chooses its own rings; the sums are the same).
  std::vector<Device> sequence{};
  friend bool operator==(const SyncPartOf&, const SyncPartOf&) = default;
};
using SyncPart = SyncPartOf<DeviceId>;

struct VariableSync {
  OpId update;   // the variable is the parameter that it updates
  int axis = 0;  // of the variable; along it the parts are as equal as can be, larger first
  std::vector<SyncPart> parts;  // at least one, at most the axis' extent
  // Bounded staleness: a step may begin with values that lack the gradients of up to this many
  // steps before it. 0: synchronous, the only one that keeps the results of training. Above: Ps
  // parts only.
  int staleness = 0;
  // The partition vector of a variable that is divided along several axes: into how many parts
  // along axis 0, 1, ...; trailing ones may be left out. [2, 3] makes six parts, those along the
  // last axis following each other. `axis` is 0 then. Empty: all parts are along `axis`.
  std::vector<std::int32_t> partition{};
  friend bool operator==(const VariableSync&, const VariableSync&) = default;
};

// An axis that is divided, and into how many parts: two or more.
struct AxisParts {
  int axis = 0;
  std::int64_t parts = 1;
};
std::vector<AxisParts> divided_axes(const VariableSync& variable);  // ascending; none: it is whole
// Makes it divided so, along one axis or several, into parts as its first. Throws InputError when
// they are more than 2^20, or an element is below one.
void divide(VariableSync& variable, std::vector<std::int32_t> partition);

// Returns part `index` of a valid variable of this shape: its range along each divided axis.
Part part_box(const VariableSync& variable, const Shape& shape, std::size_t index);

void add_to(Hasher& hasher, const VariableSync& variable);

}  // namespace strato
