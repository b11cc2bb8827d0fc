// The simulation engine: from a program's tasks to their schedule, by the semantics of simulate.h.
// A run is a replay from time zero: the same loop (run_events()) goes on from a checkpoint of an
// earlier schedule. Reuses its arrays. Not thread safe. Private to this folder.
#pragma once

#include <cstdint>
#include <span>

#include "core/sim/engine/key_heap.h"
#include "core/sim/engine/pending_tasks.h"
#include "core/sim/engine/queue_discipline.h"
#include "core/sim/memory/task_schedule.h"

namespace strato {

class SimulationEngine {
 public:
  // The whole program, first in first out by list scheduling where that is allowed. By events
  // whatever the program is: run_by_events().
  void run(const Program& program, const SimulateOptions& options, TaskSchedule& schedule);
  void run_by_events(const Program& program, const SimulateOptions& options,
                     TaskSchedule& schedule);
  // Keeps the first `taken` tasks of the schedule's order, a multiple of its stride, and schedules
  // `rest` again, first in first out. `places` as PendingTasks::load_rest() has them.
  void replay(const TaskRows& rows, std::span<const TaskId> rest,
              std::span<const std::int32_t> places, std::size_t taken, TaskSchedule& schedule);

 private:
  void run_queues(const Program& program, const SimulateOptions& options, TaskSchedule& schedule);
  void run_fifo(std::size_t taken, TaskSchedule& schedule);

  PendingTasks tasks_;
  QueueDiscipline queues_;
  KeyHeap<std::uint64_t> short_heap_;  // where ready time and place fit into 64 bits
  KeyHeap<unsigned __int128> long_heap_;
};

}  // namespace strato
