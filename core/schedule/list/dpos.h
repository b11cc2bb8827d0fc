// DPOS, the list scheduler of FastT (5.1, Algorithm 1), and what a change of the graph does to its
// schedule (for OS-DPOS, 5.2, Algorithm 2).
//
// Nodes are taken by descending upward rank, ties in topological order. Those on the critical path
// go to the critical-path device: the one with the smallest average time of as many of the path's
// remaining nodes, in its order, as there is memory for; when it is full the next one is chosen in
// the same way. Others go where they finish first (line 20 of the algorithm says EST; EFT is
// meant), into idle time where there is enough. A node of a co-location group follows the group. A
// node for which no device has room goes to the emptiest: the schedule then does not fit.
//
// A trial of an edit ranks again what leads to the edited nodes, and schedules again from the first
// node on that is ordered or placed differently; the result is the same as from scratch.
#pragma once

#include <span>
#include <vector>

#include "core/schedule/dag/editable_dag.h"
#include "core/schedule/dag/transfer_times.h"
#include "core/schedule/list/dpos_order.h"
#include "core/schedule/list/dpos_placer.h"
#include "core/schedule/list/steps.h"

namespace strato {

struct DposOptions {
  std::vector<DeviceId> devices;  // to use, ascending; empty: all
  double memory = 1;              // part of every device's memory that may be used
  // False: all nodes go where they finish first (HEFT's rule with FastT's ranks).
  bool critical_path_device = true;
};

class Dpos {
 public:
  // Refers to the cluster and the cost model. Not thread safe.
  Dpos(const Dag& dag, const Cluster& cluster, const CostModel& cost, const DposOptions& options);
  Dpos(const Dpos&) = delete;

  const EditableDag& dag() const { return dag_; }
  Nanos makespan() const { return result_.makespan; }
  bool fits() const { return result_.fits; }
  Nanos rank(NodeIndex node) const { return order_.rank(node); }
  std::span<const NodeIndex> order() const { return order_.order(); }  // of placing: L
  std::span<const NodeIndex> critical_path() const { return order_.path(); }
  DeviceId device(NodeIndex node) const { return placed(node).device; }
  Nanos start(NodeIndex node) const { return placed(node).start; }
  Nanos finish(NodeIndex node) const { return placed(node).finish; }
  Nanos time(NodeIndex node, DeviceId device) const {
    return dag_.time(node, cluster_.device(device).type);
  }
  Nanos transfer(const EditableDag::Half& half, DeviceId from, DeviceId to) const {
    return transfers_.time(half.row, from, to);
  }
  Nanos longest_transfer(const EditableDag::Half& half) const {  // over all pairs of devices
    return transfers_.longest(half.row);
  }
  Bytes transfer_bytes(const EditableDag::Half& half) const { return transfers_.bytes(half.row); }
  std::span<const DeviceId> devices() const { return devices_; }

  struct EditedSchedule {
    Nanos makespan;  // where it was given up: at least the limit
    bool fits = true;
    std::size_t ranked = 0, placed = 0;  // nodes that were looked at again
  };
  // Tells what the schedule would be; gives up when it cannot be below `limit`.
  EditedSchedule trial(const DagEdit& edit, Nanos limit = Nanos::max());
  void take(const DagEdit& edit);

  // Every placement, with the times at which every candidate could run the node.
  std::vector<PlanningSteps::Step> steps() const;

 private:
  struct Checkpoint {
    std::size_t place;  // in the order: before it
    PartialSchedule state;
  };
  // The critical path's device was chosen here, with this memory left.
  struct Choice {
    std::size_t place;
    DeviceId device;
    std::vector<Bytes> left;
    std::vector<DeviceId> group_at;
  };
  // One run over the order, from `restart` on.
  struct Run {
    std::span<const NodeIndex> head = {};  // the order before `tail`
    std::span<const NodeIndex> tail, path;
    std::size_t restart = 0;
    Nanos limit = Nanos::max();

    std::size_t end() const { return head.size() + tail.size(); }
    NodeIndex node(std::size_t place) const {
      return place < head.size() ? head[place] : tail[place - head.size()];
    }
  };
  struct Ran {
    PartialSchedule schedule;
    std::size_t placed = 0;
  };
  // The states that a run leaves for the next ones to begin with.
  struct Trace {
    std::vector<Checkpoint> checkpoints;  // ascending
    std::vector<Choice> choices;          // ascending
  };

  const PlacedNode& placed(NodeIndex node) const { return placed_[at(node)]; }
  OrderRevision revise(const DagEdit& edit);
  void limit_restart(const DagEdit& edit, OrderRevision& revision) const;
  PartialSchedule resume(const Run& run, std::span<const PlacedNode> placed) const;
  Ran run(const Run& run, std::vector<PlacedNode>& placed, Trace* trace,
          std::vector<PlanningSteps::Step>* steps) const;
  void run_and_keep(std::size_t restart);

  const Cluster& cluster_;
  DposOptions options_;
  std::vector<DeviceId> devices_;
  PairTimes transfers_;
  EditableDag dag_;
  DposOrder order_;
  DposPlacer placer_;
  std::vector<PlacedNode> placed_, trial_placed_;  // by node; a trial's memory is used again
  Trace trace_;
  PartialSchedule result_;
};

}  // namespace strato
