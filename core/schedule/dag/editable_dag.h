// A dag in which nodes are replaced by others and put back: what FastT's SplitOperation does to it,
// at the price of what changes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/schedule/dag/dag.h"
#include "core/schedule/dag/transfer_times.h"

namespace strato {

// Nodes that go, with their edges, and nodes and edges that come.
struct DagEdit {
  struct Node {
    std::vector<Nanos> times;  // by GPU type
    Bytes memory;
    // The node whose place it takes in the topological order; added nodes with the same place stand
    // behind it in the order in which they were added, whenever that was: nodes of the first graph
    // are to be replaced, not added ones.
    NodeIndex place = 0;
  };
  std::vector<NodeIndex> removed;
  std::vector<Node> added;  // they are size(), size() + 1, ...
  // At least one end of each is added; several between two nodes are one with the sum of their
  // bytes.
  std::vector<DagLink> edges;
};

class EditableDag {
 public:
  struct Half {
    NodeIndex node;    // the other end
    std::int32_t row;  // of the bytes' transfer times
  };
  // Transfer sizes get rows in `transfers`, which must outlive this.
  EditableDag(const Dag& dag, PairTimes& transfers);

  std::size_t size() const { return nodes_.size(); }  // with removed ones
  bool has(NodeIndex node) const { return state(node).alive; }
  std::span<const Half> successors(NodeIndex node) const { return row(state(node).successors); }
  std::span<const Half> predecessors(NodeIndex node) const { return row(state(node).predecessors); }
  Nanos time(NodeIndex node, GpuTypeId gpu) const {
    return times_[at(node) * gpu_types_ + gpu.index()];
  }
  Bytes memory(NodeIndex node) const { return state(node).memory; }
  std::int32_t colocation(NodeIndex node) const { return state(node).colocation; }
  Bytes group_memory(std::int32_t colocation) const { return group_memory_[at(colocation)]; }
  std::size_t group_count() const { return group_memory_.size(); }
  // Every edge goes to a node with a larger key.
  std::uint64_t key(NodeIndex node) const { return state(node).key; }

  // Fills `touched` with nodes, not added ones, that have other neighbours than before. Edits are
  // undone last first.
  void apply(const DagEdit& edit, std::vector<NodeIndex>& touched);
  void undo();

 private:
  struct Range {
    std::int32_t begin = 0, count = 0;
  };
  struct Node {
    std::uint64_t key = 0;
    Bytes memory;
    Range successors, predecessors;  // in pool_
    std::int32_t colocation = -1;
    bool alive = true;
  };
  using LinkEnd = std::pair<NodeIndex, DagLink>;  // a link at one of its nodes
  struct Undo {
    std::size_t nodes, pool;
    std::vector<std::pair<NodeIndex, Node>> before;
  };
  const Node& state(NodeIndex node) const { return nodes_[at(node)]; }
  Node& state(NodeIndex node) { return nodes_[at(node)]; }
  std::span<const Half> row(Range range) const {
    return {pool_.data() + range.begin, at(range.count)};
  }
  Range stored_since(std::size_t begin) const {
    return {static_cast<std::int32_t>(begin), static_cast<std::int32_t>(pool_.size() - begin)};
  }
  void add_nodes(const DagEdit& edit);
  void rewrite(NodeIndex node, std::span<const LinkEnd> ends);

  PairTimes& transfers_;
  std::size_t gpu_types_;
  std::vector<Node> nodes_;
  std::vector<Nanos> times_;
  std::vector<Half> pool_;
  std::vector<Bytes> group_memory_;
  std::vector<Undo> history_;
};

}  // namespace strato
