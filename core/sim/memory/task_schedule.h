// A schedule: when every task runs, and in which order tasks were taken. It holds what a run needs
// to go on from a checkpoint instead of time zero. A value, whose arrays are used again. Private to
// this folder.
#pragma once

#include <cstdint>
#include <vector>

#include "core/sim/timeline/timeline.h"

namespace strato {

struct ResourceUse {
  std::int64_t free = 0;  // nanoseconds: the end of the last task on it
  std::int64_t busy = 0;
};

struct TaskSchedule {
  static constexpr std::size_t kStride = 256;  // tasks from checkpoint to checkpoint

  struct Taken {
    std::int32_t task;
    std::int32_t stream;  // as below
  };

  // By handle; of tasks that are gone what they were.
  IdVector<TaskId, TaskTimes> times;
  IdVector<TaskId, std::int32_t> streams;  // the only resource of a task; -1: it needs several
  std::vector<Taken> order;                // on each resource in the order of starts
  std::vector<ResourceUse> resources;      // after the last task; `free` first in, first out only
  Nanos step_time;
  bool keeps_checkpoints = false;
  std::vector<ResourceUse> checkpoints;  // the resources before every kStride-th task
};

}  // namespace strato
