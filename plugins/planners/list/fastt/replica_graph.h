// The graph that FastT schedules (FastT 5.2): the model with every op that splits along the batch
// replicated, each replica with its part of the samples; with one replica, the model itself.
//
// A trained parameter is a variable on one device, as in TensorFlow's in-graph replication, which
// all readers fetch it from, and to which the partial sums of its gradient are sent, summed there
// and used by its update: variable, sum and update are one co-location group. Ops that do not
// depend on the batch have a copy for every replica; other ops that do not split stand once.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "core/schedule/dag/dag.h"
#include "core/search/api/problem.h"

namespace strato::fastt {

enum class Role : std::uint8_t {
  Replica,   // of an op that splits along the batch
  Copy,      // of an op that does not depend on the batch
  Single,    // of an op that stands once
  Variable,  // a trained parameter
  Sum,       // of a tensor's partial sums
  Part,      // of a replica, along the batch (FastT 5.2, sub-operation)
  Slice,     // of an op, along another axis, for the whole batch
  Split,     // makes the pieces of an input that parts or slices read
  Join,      // puts together for one reader what they make
};

struct NodeInfo {
  Role role = Role::Single;
  OpId op;          // computed here; of a Split or Join: whose output is moved
  TensorId tensor;  // of a Variable or Sum
  std::int32_t replica = 0;
  std::int64_t samples = 0;
};

struct ReplicaGraph {
  std::vector<std::int64_t> samples;  // by replica
  std::vector<NodeInfo> nodes;
  IdVector<OpId, std::vector<NodeIndex>> of_op;  // where it is computed, ascending
  Dag dag;

  std::size_t replicas() const { return samples.size(); }
};

// As equal as whole numbers can be, the larger ones first.
std::vector<std::int64_t> equal_parts(std::int64_t total, std::size_t parts);

// A node's time on each GPU type: work that exists takes at least a nanosecond.
template <class Time>
std::vector<Nanos> times_by_gpu(const Problem& problem, const Time& time) {
  std::vector<Nanos> times;
  for (std::size_t type = 0; type < problem.cluster->gpu_types().size(); ++type)
    times.push_back(std::max(Nanos(1), time(GpuTypeId(type))));
  return times;
}

// `replicas` is cut down to the samples that there are.
ReplicaGraph replica_graph(const Problem& problem, std::size_t replicas);

// Does the op split along the batch on its own, whatever its neighbours do?
bool splits_along_batch(const Graph& graph, OpId op);

std::string name_of(const Graph& graph, const NodeInfo& node);  // "conv1 (2)", "variable w"

}  // namespace strato::fastt
