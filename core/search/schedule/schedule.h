// A schedule: where and when every node of a dag runs. What the list schedulers fill, and how.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/search/schedule/dag.h"

namespace strato {

struct Schedule {
  std::vector<DeviceId> device;      // by node
  std::vector<Nanos> start, finish;  // by node
  Nanos makespan;
  std::vector<Bytes> memory;  // by device: of its nodes
  bool fits = true;           // no device has more than its capacity
};

// When a device is busy. Nodes may be put into idle time between others ("insertion").
class DeviceTimeline {
 public:
  // The first moment from `ready` on at which the device is idle for `duration`; a duration of zero
  // fits anywhere outside of a node.
  Nanos earliest(Nanos ready, Nanos duration, bool insert = true) const;
  void occupy(Nanos start, Nanos duration);
  Nanos end() const { return end_; }
  Nanos busy() const { return busy_; }

 private:
  std::map<Nanos, Nanos> idle_;  // start -> end of the gaps before end_
  Nanos end_, busy_;
};

// A schedule in the making: which nodes are where, what memory is left, what co-location demands.
// Nodes are placed in a topological order.
class Scheduling {
 public:
  struct Options {
    bool insert = true;  // into idle time
    double memory = 1;   // part of every device's memory that may be used
    // Transfers occupy the devices' communication streams, one at a time (Celeritas 6.1), instead
    // of costing time alone.
    bool transfers_are_tasks = false;
  };
  Scheduling(const Dag& dag, const TransferTimes& transfers, const Cluster& cluster,
             const Options& options);

  // The device that a node placed before it demands.
  std::optional<DeviceId> demanded(NodeIndex node) const;
  bool has_room(NodeIndex node,
                DeviceId device) const;  // for it and, of a co-location group, all of it
  // All inputs there (pre_t of Celeritas Equation 7).
  Nanos inputs_at(NodeIndex node, DeviceId device) const;
  Nanos earliest_start(NodeIndex node, DeviceId device) const;  // EST; memory is not looked at
  Nanos earliest_finish(NodeIndex node, DeviceId device) const;
  void place(NodeIndex node, DeviceId device);  // at its earliest start
  bool is_placed(NodeIndex node) const;
  DeviceId emptiest() const;  // the most memory left: best effort when all are full
  Nanos finish(NodeIndex node) const;
  DeviceId device(NodeIndex node) const;
  Bytes room(DeviceId device) const;

  Schedule finished() &&;  // all nodes are placed (CHECK)

 private:
  Nanos transfer_end(const DagEdge& edge, DeviceId device) const;

  const Dag& dag_;
  const TransferTimes& transfers_;
  const Cluster& cluster_;
  Options options_;
  Schedule schedule_;
  std::vector<DeviceTimeline> compute_, communication_;  // by device
  std::vector<char> placed_;
  std::vector<Bytes> left_;          // by device
  std::vector<DeviceId> group_at_;   // by co-location group; invalid: nowhere yet
  std::vector<Bytes> group_memory_;  // of a whole group
};

// Empty when the schedule is valid: every node once on an existing device for its time, no two
// overlapping on one, no node before its inputs can be there, co-location kept, makespan and memory
// right. Otherwise what is wrong first. Knows nothing of how it was made.
std::string problem_with(const Schedule& schedule, const Dag& dag, const TransferTimes& transfers,
                         const Cluster& cluster);

}  // namespace strato
