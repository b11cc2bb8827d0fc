// A timeline is what a simulation gives: when every task runs, and how much memory every device
// needs. It is immutable once simulated.
#pragma once

#include <memory>
#include <vector>

#include "core/base/units.h"
#include "core/program/value/program.h"

namespace strato {

// Two switches on top of first in, first out on exclusive resources.
struct SimulateOptions {
  // Tasks' priorities count; off: all are zero.
  bool priorities = true;
  // Links are shared max-min fairly by the transfers and collectives on them, instead of one
  // holding a link at a time; streams stay exclusive. What communicates queues for its streams only
  // (a transfer has none: it starts when ready), first spends its latency without using bandwidth,
  // then flows: alone it uses the slowest of its links fully and takes the rest of its duration.
  // Rates in bytes per second by progressive filling. A task's duration is then what it took: end -
  // start.
  bool fair_links = false;
  friend bool operator==(const SimulateOptions&, const SimulateOptions&) = default;
};

struct TaskTimes {
  Nanos ready, start, end;
};

struct DeviceUse {
  Nanos compute_busy;        // compute stream
  Nanos communication_busy;  // at least one of its communication streams
  Bytes resident;
  Bytes peak;  // including resident
  Bytes capacity;
  Nanos peak_at;  // first moment at which the peak is reached
  bool fits() const { return peak <= capacity; }
};

// The memory of a machine's processors, as far as devices keep something there.
struct HostUse {
  Bytes resident;
  Bytes peak;  // including resident
  Bytes capacity;
  Nanos peak_at;  // first moment at which the peak is reached
  bool fits() const { return peak <= capacity; }
};

// What a step costs as a whole.
struct SimulatedStep {
  Nanos step_time;  // end of the last task
  IdVector<DeviceId, DeviceUse> devices;
  IdVector<MachineId, HostUse> hosts;
  IdVector<LinkId, Nanos> link_busy;  // shared fairly: with at least one task on it
  bool feasible = true;               // every device and host fits
};

struct Timeline : SimulatedStep {
  std::shared_ptr<const Program> program;
  SimulateOptions options;
  IdVector<TaskId, TaskTimes> tasks;
  // The device whose tasks a device has, too: each its own, but where the program was lowered
  // without those that do the same as another one (symmetry.h). Empty: nothing is left out.
  IdVector<DeviceId, DeviceId> like;
  bool is_outline() const { return !like.empty(); }

  // Buffers alive on `device` at `moment`, and residents, largest first; not what its host keeps.
  struct Alive {
    TensorId tensor;
    Bytes bytes;
    bool resident;
  };
  std::vector<Alive> alive_at(DeviceId device, Nanos moment) const;
};

// When a buffer is taken and released.
struct Lifetime {
  TaskId taken_by;     // its writer, at that task's start
  TaskId released_by;  // its last reader in time (ties: the larger id), or its writer; at that
                       // task's end
};
IdVector<BufferId, Lifetime> lifetimes(const Timeline& timeline);

// In which order ranks execute the tasks: every task once, by (start, id); one that would come
// before a dependency follows it.
std::vector<TaskId> execution_order(const Timeline& timeline);

}  // namespace strato
