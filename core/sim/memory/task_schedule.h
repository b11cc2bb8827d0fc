// The tasks that are scheduled, and their schedule. Private to core/sim.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/sim/timeline/timeline.h"

namespace strato {

// The tasks of a program by handle. A whole program's handle is the row; delta lowering's store
// also has rows of tasks that are gone. A view, for one call.
class TaskRows {
 public:
  explicit TaskRows(const Program& program) : program_(program) {}
  // `rows`: by handle; -1: gone. Empty: a whole program.
  TaskRows(const Program& store, std::span<const std::int32_t> rows)
      : program_(store), rows_(rows) {}

  const Program& program() const { return program_; }
  std::size_t size() const { return rows_.empty() ? program_.tasks.size() : rows_.size(); }
  // Negative: the task is gone.
  std::int32_t row(std::size_t task) const {
    return rows_.empty() ? static_cast<std::int32_t>(task) : rows_[task];
  }

 private:
  const Program& program_;
  std::span<const std::int32_t> rows_;
};

struct ResourceUse {
  std::int64_t free = 0;  // nanoseconds: the end of the last task on it
  std::int64_t busy = 0;
  // Of a device's compute stream: when the device's process has started all tasks so far.
  std::int64_t issued = 0;
};

// When every task runs, and in which order tasks were taken. It holds what a run needs to go on
// from a checkpoint instead of time zero. A value, whose arrays are used again.
struct TaskSchedule {
  static constexpr std::size_t kStride = 256;  // tasks from checkpoint to checkpoint

  struct Taken {
    std::int32_t task;
    std::int32_t stream;  // the only resource of the task; -1: it needs several
  };

  // By handle; of tasks that are gone what they were.
  IdVector<TaskId, TaskTimes> times;
  std::vector<Taken> order;            // all tasks, on each resource in the order of starts
  std::vector<ResourceUse> resources;  // after the last task; `free` first in, first out only
  Nanos step_time;
  bool keeps_checkpoints = false;
  std::vector<ResourceUse> checkpoints;  // the resources before every kStride-th task
};

}  // namespace strato
