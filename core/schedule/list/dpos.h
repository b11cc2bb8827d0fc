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

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/schedule/dag/editable_dag.h"
#include "core/schedule/dag/pair_times.h"
#include "core/schedule/list/idle_gaps.h"
#include "core/schedule/list/schedule.h"
#include "core/schedule/list/steps.h"
#include "core/sim/explain/critical_path.h"

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
  Dpos& operator=(const Dpos&) = delete;

  const EditableDag& dag() const { return dag_; }
  Nanos makespan() const { return last_.makespan; }
  bool fits() const { return last_.fits; }
  Nanos rank(NodeIndex node) const { return rank_[static_cast<std::size_t>(node)]; }
  std::span<const NodeIndex> order() const { return order_; }  // of placing: L
  std::span<const NodeIndex> critical_path() const { return path_; }
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

  struct Trial {
    Nanos makespan;  // where it was given up: at least `limit`
    bool fits = true;
    std::size_t ranked = 0, placed = 0;  // nodes that were looked at again
  };
  // Tells what the schedule would be, and gives up when it cannot be below `limit`.
  Trial trial(const DagEdit& edit, Nanos limit = Nanos::max());
  void take(const DagEdit& edit);

  // Returns the steps, with the times at which every candidate could run the node.
  std::vector<PlanningSteps::Step> steps();
  // Returns the schedule of the nodes that are there, numbered as dag().dag() numbers them.
  Schedule schedule() const;

 private:
  struct Placed {
    Nanos start, finish;
    DeviceId device;
  };
  struct State {
    std::vector<IdleGaps> idle;      // by device
    std::vector<Bytes> left;         // by device
    std::vector<DeviceId> group_at;  // by co-location group
    DeviceId path_device;
    Nanos makespan;
    bool fits = true;
  };
  struct Checkpoint {
    std::size_t place;  // in the order: before it
    State state;
  };
  struct Choice {  // of a critical-path device
    std::size_t place;
    DeviceId device;
    std::vector<Bytes> left;
    std::vector<DeviceId> group_at;
  };
  struct Change {                    // what an edit does to the order
    std::vector<NodeIndex> changed;  // with another rank, removed, or added
    std::vector<NodeIndex> tail;     // the order from `place` on
    std::vector<NodeIndex> path;
    std::size_t place = 0;    // the order is as before up to here
    std::size_t restart = 0;  // and the schedule up to here
    std::size_t ranked = 0;
  };
  struct Run {
    std::span<const NodeIndex> tail;  // the order from `first` on
    std::size_t first = 0;
    std::size_t restart = 0;
    std::span<const NodeIndex> path;
    Nanos limit = Nanos::max();
    bool keep = false;  // checkpoints and choices
    std::vector<PlanningSteps::Step>* steps = nullptr;

    std::size_t end() const { return first + tail.size(); }
  };

  const Placed& placed(NodeIndex node) const { return placed_[static_cast<std::size_t>(node)]; }
  bool before(NodeIndex a, Nanos rank_a, NodeIndex b, Nanos rank_b) const {
    return rank_a != rank_b ? rank_a > rank_b : dag_.key(a) < dag_.key(b);
  }
  State empty_state() const;
  void grow();
  Nanos longest_time(NodeIndex node) const;
  Nanos rank_from_successors(NodeIndex node) const;
  void rank_all();
  std::vector<NodeIndex> path_from(NodeIndex entry) const;
  Change change(const DagEdit& edit);
  void rank_again(const DagEdit& edit, std::span<const NodeIndex> touched, std::size_t old_size,
                  Change& change);
  void order_again(std::span<const NodeIndex> touched, Change& change);
  void find_restart(Change& change);
  void restart_before_group(std::int32_t group, Change& change) const;
  void forget(const Change& change, std::size_t old_size);

  Bytes need(NodeIndex node, const std::vector<DeviceId>& group_at) const;
  DeviceId choose_path_device(std::span<const NodeIndex> remaining, const State& state) const;
  DeviceId emptiest(const State& state) const;
  void find_ready(NodeIndex node, std::span<const Placed> placed);
  DeviceId select(NodeIndex node, std::span<const NodeIndex> remaining, std::size_t place,
                  State& state, const Run& run, PlanningSteps::Why& why);
  DeviceId earliest_finish(NodeIndex node, const State& state) const;
  void put(NodeIndex node, State& state, const Placed& placed) const;
  State resume(const Run& run, std::span<const Placed> placed) const;
  State run(const Run& run, std::vector<Placed>& placed, std::size_t& count);
  NodeIndex node_at(const Run& run, std::size_t place) const {
    return place < run.first ? order_[place] : run.tail[place - run.first];
  }
  void record(NodeIndex node, const State& state, PlanningSteps::Why why, const Placed& placed,
              std::vector<PlanningSteps::Step>& steps) const;

  const Cluster& cluster_;
  DposOptions options_;
  std::vector<DeviceId> devices_;
  PairTimes transfers_;
  EditableDag dag_;
  std::vector<Nanos> rank_, old_rank_;   // by node; old: before the edit that is tried
  std::vector<char> changed_, on_path_;  // by node
  std::vector<std::int32_t> place_;      // in order_, by node
  std::vector<NodeIndex> order_, path_;
  std::vector<Placed> placed_, trial_placed_;
  std::vector<Checkpoint> checkpoints_;  // of the schedule, ascending
  std::vector<Choice> choices_;
  State last_;
  std::vector<Nanos> ready_;  // of one node, by device
};

}  // namespace strato
