// Chooses the place of a node in DPOS (FastT 5.1, Algorithm 1), given what is placed already.
#pragma once

#include <span>
#include <vector>

#include "core/cluster/value/cluster.h"
#include "core/schedule/dag/editable_dag.h"
#include "core/schedule/dag/transfer_times.h"
#include "core/schedule/list/idle_gaps.h"
#include "core/schedule/list/steps.h"

namespace strato {

struct PlacedNode {
  Nanos start, finish;
  DeviceId device;
};

// The room that placed nodes leave to the others.
struct PartialSchedule {
  std::vector<IdleGaps> idle;      // by device
  std::vector<Bytes> left;         // by device: memory
  std::vector<DeviceId> group_at;  // by co-location group; invalid: nowhere yet
  DeviceId path_device;            // of the critical path; invalid: not chosen yet
  Nanos makespan;
  bool fits = true;
};

// Refers to the dag, its transfer times, the cluster and the devices. Safe from several threads.
class DposPlacer {
 public:
  DposPlacer(const EditableDag& dag, const PairTimes& transfers, const Cluster& cluster,
             std::span<const DeviceId> devices, double memory)
      : dag_(dag), transfers_(transfers), cluster_(cluster), devices_(devices), memory_(memory) {}

  PartialSchedule nothing_placed() const;
  // `ready`, by device: when all inputs of the node are there.
  void find_ready(NodeIndex node, std::span<const PlacedNode> placed,
                  std::vector<Nanos>& ready) const;
  // The device of a node. `remaining`: of the critical path from this node on; empty: it is not on
  // it, or devices are not chosen by it. May choose the path's device.
  struct Selection {
    DeviceId device;
    PlanningSteps::Why why;
    bool chose_path_device = false;
  };
  Selection select(NodeIndex node, std::span<const NodeIndex> remaining,
                   std::span<const Nanos> ready, PartialSchedule& partial) const;
  PlacedNode at_earliest(NodeIndex node, DeviceId device, std::span<const Nanos> ready,
                         const PartialSchedule& partial) const;
  void put(NodeIndex node, const PlacedNode& placed, PartialSchedule& partial) const;
  // The devices where the node could run, and when; before it is put there.
  std::vector<PlanningSteps::Candidate> candidates(NodeIndex node, std::span<const Nanos> ready,
                                                   const PartialSchedule& partial) const;
  // The device with the smallest average time of as many of these nodes as it has memory for.
  DeviceId choose_path_device(std::span<const NodeIndex> remaining, std::span<const Bytes> left,
                              std::span<const DeviceId> group_at) const;

 private:
  Nanos time(NodeIndex node, DeviceId device) const {
    return dag_.time(node, cluster_.device(device).type);
  }
  Bytes need(NodeIndex node, std::span<const DeviceId> group_at) const;
  DeviceId earliest_finish(NodeIndex node, std::span<const Nanos> ready,
                           const PartialSchedule& partial) const;

  const EditableDag& dag_;
  const PairTimes& transfers_;
  const Cluster& cluster_;
  const std::span<const DeviceId> devices_;
  const double memory_;  // part of every device's that may be used
};

}  // namespace strato
