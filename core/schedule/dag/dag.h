// The graph that list schedulers see: nodes with times and memory, edges with bytes. A node is an
// op, a replica of one, or a cluster of ops. Plain numbers in compressed rows, so that 100,000
// nodes are scheduled in milliseconds; nothing in this folder recurses along the graph.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/at.h"
#include "core/base/units.h"
#include "core/cluster/value/cluster.h"
#include "core/search/api/problem.h"

namespace strato {

using NodeIndex = std::int32_t;

struct DagEdge {
  NodeIndex node;     // the other end
  std::int32_t edge;  // index of the edge: the same seen from both ends
};

struct DagLink {  // an edge by both its ends
  NodeIndex from, to;
  Bytes bytes;
};
// Several between two nodes, side by side, become one with the sum of their bytes.
void merge_links(std::vector<DagLink>& links);

// Nodes are in a topological order: every edge goes to a larger index.
class Dag {
 public:
  std::size_t size() const { return memory_.size(); }
  std::size_t edge_count() const { return bytes_.size(); }
  Numbers nodes() const { return {static_cast<NodeIndex>(size())}; }
  Numbers edges() const { return {static_cast<std::int32_t>(edge_count())}; }
  std::span<const DagEdge> successors(NodeIndex node) const {  // ascending by node
    return row(successors_, successor_begin_, node);
  }
  std::span<const DagEdge> predecessors(NodeIndex node) const {  // ascending by node
    return row(predecessors_, predecessor_begin_, node);
  }
  Bytes bytes(std::int32_t edge) const { return bytes_[at(edge)]; }
  Nanos time(NodeIndex node, GpuTypeId gpu) const {
    return time_[at(node) * gpu_types_ + gpu.index()];
  }
  // Returns the bytes that the node takes of its device's memory for as long as the step lasts:
  // parameters with gradients and optimizer state, and activations that the backward pass reads.
  Bytes memory(NodeIndex node) const { return memory_[at(node)]; }
  // Nodes with the same number, 0 or more, have to be on one device (a parameter, all that read it
  // and its update: Celeritas 6.1). -1: free.
  std::int32_t colocation(NodeIndex node) const { return colocation_[at(node)]; }
  std::int32_t colocation_count() const { return colocation_count_; }
  std::size_t gpu_type_count() const { return gpu_types_; }

 private:
  friend class DagBuilder;
  static std::span<const DagEdge> row(const std::vector<DagEdge>& edges,
                                      const std::vector<std::int32_t>& begin, NodeIndex node) {
    return {edges.data() + begin[at(node)], edges.data() + begin[at(node) + 1]};
  }

  std::size_t gpu_types_ = 0;
  std::int32_t colocation_count_ = 0;
  std::vector<Nanos> time_;  // node x GPU type
  std::vector<Bytes> memory_, bytes_;
  std::vector<std::int32_t> colocation_;
  std::vector<std::int32_t> successor_begin_ = {0}, predecessor_begin_ = {0};
  std::vector<DagEdge> successors_, predecessors_;
};

class DagBuilder {
 public:
  explicit DagBuilder(std::size_t gpu_types);
  // `times`: one per GPU type. Nodes are numbered as they are added.
  NodeIndex add_node(std::span<const Nanos> times, Bytes memory, std::int32_t colocation = -1);
  // 0 <= from < to (CHECK). Several edges between two nodes become one with the sum of their bytes;
  // one without bytes says only what comes first.
  void add_edge(NodeIndex from, NodeIndex to, Bytes bytes);
  Dag build() &&;

 private:
  Dag dag_;
  std::vector<DagLink> edges_;
};

// One node per cluster: times, memory and bytes between clusters add up. `cluster_of` numbers
// clusters from 0 without gaps, such that every edge goes to the same cluster or a larger one
// (CHECK). A cluster that holds nodes of several co-location groups makes them one; a group inside
// one cluster is no group any more.
Dag contract(const Dag& dag, std::span<const std::int32_t> cluster_of);

// The graph of a problem: one node per op, numbered as the ops are, with its time for the whole
// batch; what makes no task (is_alias, core/program/value/tables.h) takes none. An edge carries the
// bytes of the producer's outputs that the consumer reads; edges without bytes lead from the
// readers of a parameter to its update, which overwrites it. Ops that touch one parameter share a
// co-location group, which are numbered by their first nodes. Inputs, constants, parameters and
// optimizer state are counted with the op that reads them first, a trained parameter twice: with
// its gradient.
Dag dag_of(const Problem& problem);

// The bytes of each op's outputs that stay until late ops have read them, also through views. What
// late ops make is not counted.
IdVector<OpId, Bytes> kept_bytes(const Graph& graph, bool (*is_late)(const Op&));

}  // namespace strato
