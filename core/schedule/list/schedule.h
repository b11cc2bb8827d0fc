// A schedule: where and when every node of a dag runs. What the list schedulers fill, and how.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "core/base/at.h"
#include "core/schedule/dag/dag.h"
#include "core/schedule/dag/transfer_times.h"
#include "core/schedule/list/idle_gaps.h"

namespace strato {

struct Schedule {
  std::vector<DeviceId> device;      // by node
  std::vector<Nanos> start, finish;  // by node
  Nanos makespan;
  std::vector<Bytes> memory;  // by device: of its nodes
  bool fits = true;           // no device has more than its capacity
};

// The times at which a device is busy. Nodes may be put into idle time between others
// ("insertion"); what takes no time needs no device and is never in the way.
struct DeviceTimeline : private IdleGaps {
  using IdleGaps::end, IdleGaps::occupy;
  Nanos earliest(Nanos ready, Nanos duration, bool insert = true) const {
    if (duration <= Nanos()) return ready;
    return insert ? IdleGaps::earliest(ready, duration) : std::max(ready, end());
  }
};

// A schedule in the making: which nodes are where, what memory is left, what co-location demands.
// Nodes are placed in a topological order. Refers to the dag and the transfer times.
class Scheduling {
 public:
  struct Options {
    bool insert = true;  // into idle time
    double memory = 1;   // part of every device's memory that may be used
    // Every transfer occupies the sender's and the receiver's communication stream, one at a time
    // (Celeritas 6.1), instead of costing time alone. Those of a node are sent in the order in
    // which their senders finish. For dags of up to some 10,000 nodes: with insertion, looking for
    // a moment when both streams are idle takes longer the more transfers there are.
    bool transfers_are_tasks = false;
  };
  Scheduling(const Dag& dag, const TransferTimes& transfers, const Cluster& cluster,
             const Options& options);

  // The device on which a node of its co-location group is; nothing: on none yet.
  std::optional<DeviceId> demanded(NodeIndex node) const;
  // Tells whether there is room for it and for all of its co-location group: the first node placed
  // takes the memory of all. Once the group is placed there is room where it is, and nowhere else.
  bool has_room(NodeIndex node, DeviceId device) const;
  // All inputs there (pre_t of Celeritas Equation 7).
  Nanos inputs_at(NodeIndex node, DeviceId device) const;
  Nanos earliest_start(NodeIndex node, DeviceId device) const;   // EST; memory is not looked at
  Nanos earliest_finish(NodeIndex node, DeviceId device) const;  // EFT
  // Places the node at its earliest start. Its predecessors are placed, it is not, and its group is
  // nowhere else (CHECK).
  void place(NodeIndex node, DeviceId device);
  bool is_placed(NodeIndex node) const { return schedule_.device[at(node)].valid(); }
  DeviceId emptiest() const;  // the most memory left: best effort when all are full
  Nanos start(NodeIndex node) const { return schedule_.start[at(node)]; }
  Nanos finish(NodeIndex node) const { return schedule_.finish[at(node)]; }
  DeviceId device(NodeIndex node) const { return schedule_.device[at(node)]; }
  Bytes room(DeviceId device) const { return left_[device.index()]; }  // negative: more than full
  Bytes memory(DeviceId device) const { return schedule_.memory[device.index()]; }  // of its nodes
  // What the first node placed of its co-location group, or a node without one, takes of the room.
  Bytes needed(NodeIndex node) const {
    const std::int32_t group = dag_.colocation(node);
    return group < 0 ? dag_.memory(node) : group_memory_[at(group)];
  }
  Nanos time_on(NodeIndex node, DeviceId device) const {
    return dag_.time(node, type_[device.index()]);
  }
  std::size_t device_count() const { return type_.size(); }

  Schedule finished() &&;  // all nodes are placed (CHECK)

 private:
  struct Transfer {
    DeviceId from;
    Nanos ready, duration, start;
  };
  std::vector<Transfer> transfers_to(NodeIndex node, DeviceId device) const;
  Nanos send_inputs(NodeIndex node, DeviceId device);
  void take_memory(NodeIndex node, DeviceId device);

  const Dag& dag_;
  const TransferTimes& transfers_;
  Options options_;
  Schedule schedule_;
  std::vector<GpuTypeId> type_;                          // by device
  std::vector<Bytes> capacity_, left_;                   // by device
  std::vector<DeviceTimeline> compute_, communication_;  // by device
  std::vector<DeviceId> group_at_;   // by co-location group; invalid: nowhere yet
  std::vector<Bytes> group_memory_;  // of a whole group
  std::size_t placed_ = 0;
};

}  // namespace strato
