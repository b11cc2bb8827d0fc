// The order in which DPOS places nodes (FastT 5.1): upward ranks, the list that they give, and the
// critical path; and what an edit of the dag changes in them, at the price of what it changes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/cluster/value/cluster.h"
#include "core/schedule/dag/editable_dag.h"
#include "core/schedule/dag/transfer_times.h"

namespace strato {

// The effect of an edit on the order, until it is taken or discarded.
struct OrderRevision {
  std::size_t old_size = 0;         // of the dag
  std::vector<NodeIndex> touched;   // with other neighbours
  std::vector<NodeIndex> reranked;  // with another rank, removed, or added
  std::vector<NodeIndex> tail;      // the order from `place` on
  std::vector<NodeIndex> path;      // the critical path
  std::size_t place = 0;            // the order is as before up to here
  std::size_t restart = 0;          // and so is all that a schedule by it depends on
  std::size_t ranked = 0;           // nodes that were ranked again
};

// Refers to the dag, its transfer times, the cluster and the devices. Not thread safe.
class DposOrder {
 public:
  // `follows_path`: schedules depend on the critical path; otherwise edits leave it as it was.
  DposOrder(const EditableDag& dag, const PairTimes& transfers, const Cluster& cluster,
            std::span<const DeviceId> devices, bool follows_path);

  Nanos rank(NodeIndex node) const { return rank_[at(node)]; }
  std::span<const NodeIndex> order() const { return order_; }  // by descending rank
  std::span<const NodeIndex> path() const { return path_; }
  // On the critical path, of a revision that is neither taken nor discarded in its dag.
  bool is_on_path(NodeIndex node) const { return on_path_[at(node)] != 0; }

  // For an edit that the dag has just applied; ranks are those after it.
  OrderRevision revise(const DagEdit& edit, std::size_t old_size, std::vector<NodeIndex> touched);
  void take(OrderRevision revision);
  void discard(const OrderRevision& revision);

 private:
  bool before(NodeIndex a, Nanos rank_a, NodeIndex b, Nanos rank_b) const {
    return rank_a != rank_b ? rank_a > rank_b : dag_.key(a) < dag_.key(b);
  }
  void resize(std::size_t nodes);
  Nanos longest_time(NodeIndex node) const;
  Nanos rank_from_successors(NodeIndex node) const;
  std::vector<NodeIndex> path_from(NodeIndex entry) const;
  void rank_again(const DagEdit& edit, OrderRevision& revision);
  void order_again(OrderRevision& revision);
  std::vector<NodeIndex> moved_nodes(OrderRevision& revision) const;
  void find_restart(OrderRevision& revision);
  void find_path(OrderRevision& revision);

  const EditableDag& dag_;
  const PairTimes& transfers_;
  const Cluster& cluster_;
  const std::span<const DeviceId> devices_;
  const bool follows_path_;
  std::vector<Nanos> rank_, old_rank_;   // by node; old: before the edit that is revised
  std::vector<char> changed_, on_path_;  // by node
  std::vector<std::int32_t> place_;      // in order_, by node
  std::vector<NodeIndex> order_, path_;
};

}  // namespace strato
