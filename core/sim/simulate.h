// The simulator: program -> timeline, by the semantics that every part of Stratoscope shares:
//
// A task needs all its resources at once. When its last dependency ends it becomes ready and enters the queues of
// all its resources at that moment; it starts when it is first in each and all are free. Queue order is
// (priority, ready time, task id), smallest first. Time is integer nanoseconds, ties break by id: the same
// program gives the same timeline, on any machine.
// Memory: buffers are taken when the writing task starts and released when their last reader ends (at the
// writer's end when nothing reads them); residents are there throughout. At equal times, releases come first.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/base/units.h"
#include "core/program/program.h"

namespace strato {

// Two switches on top of first in, first out on exclusive resources.
struct SimulateOptions {
  // Tasks' priorities count; off: all are zero.
  bool priorities = true;
  // Links are shared max-min fairly by the transfers and collectives on them, instead of one holding
  // a link at a time; streams stay exclusive. What communicates queues for its streams only (a transfer
  // has none: it starts when ready), first spends its latency without using bandwidth, then flows: alone it
  // uses the slowest of its links fully and takes the rest of its duration. Rates in bytes per second by
  // progressive filling. A task's duration is then what it took: end - start.
  bool fair_links = false;
  friend bool operator==(const SimulateOptions&, const SimulateOptions&) = default;
};

struct TaskTimes {
  Nanos ready, start, end;
};

struct DeviceUse {
  Nanos compute_busy;      // compute stream
  Nanos communication_busy;
  Bytes resident;
  Bytes peak;              // including resident
  Bytes capacity;
  Nanos peak_at;           // first moment at which the peak is reached
  bool fits() const { return peak <= capacity; }
};

struct Timeline {
  std::shared_ptr<const Program> program;
  SimulateOptions options;
  IdVector<TaskId, TaskTimes> tasks;
  Nanos step_time;                             // end of the last task
  IdVector<DeviceId, DeviceUse> devices;
  IdVector<LinkId, Nanos> link_busy;           // shared fairly: with at least one task on it
  bool feasible = true;                        // every device fits

  // Buffers alive on `device` at `moment`, and residents, largest first.
  struct Alive {
    TensorId tensor;
    Bytes bytes;
    bool resident;
  };
  std::vector<Alive> alive_at(DeviceId device, Nanos moment) const;
};

// Reuses its queues from call to call. Not thread safe: one per thread.
class Simulator {
 public:
  Simulator();
  ~Simulator();
  Timeline simulate(std::shared_ptr<const Program> program, const SimulateOptions& options = {});
  // The same into a timeline whose arrays are reused: a search allocates nothing from call to call.
  void simulate(std::shared_ptr<const Program> program, const SimulateOptions& options,
                Timeline& timeline);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Why the step takes as long as it does: a chain of tasks, last first in time reversed to first-to-last, in
// which each task starts when the one before it ends (its last dependency, or the task that held a resource).
struct CriticalStep {
  TaskId task;
  enum class Why : std::uint8_t { Start, Dependency, Resource } why;  // what it waited for last
};
std::vector<CriticalStep> critical_path(const Timeline& timeline);

// Per-group and per-device feedback (TAG Table 1).
struct Feedback {
  struct Group {
    Nanos makespan;        // last end minus first start of its compute tasks
    Nanos idle_before_transfer;  // mean wait between a task's end and its output's transfer start
  };
  struct DeviceGroupUse {
    Bytes peak;            // of its fullest device
    double idle = 0;       // mean idle fraction of its compute streams
  };
  IdVector<GroupId, Group> groups;
  IdVector<DeviceGroupId, DeviceGroupUse> device_groups;
  std::vector<double> link_idle;  // device groups x device groups, idle fraction of the busiest link between
};
Feedback feedback(const Timeline& timeline, const Grouping& grouping);

// One JSON object a line in start order, a first line with residents: the command line's --dump-tasks.
std::string dump_tasks(const Timeline& timeline);

}  // namespace strato
