// The one event loop of the simulator. A discipline says how tasks share resources:
//
//   void ready(std::size_t place)   all dependencies of the task have ended, the last one at its
//                                   node's `ready`
//   Ended next()                    the next task whose end is known; none: nothing is left to end
//
// FifoDiscipline knows a task's end when it is its turn (list scheduling), QueueDiscipline when the
// moment has come (queues, priorities, links shared fairly). Private to this folder.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/base/error.h"
#include "core/sim/engine/pending_tasks.h"

namespace strato {

struct Ended {
  std::int32_t place = -1;  // negative: none
  std::int64_t end = 0;     // nanoseconds
};

// Inlined, so that a discipline of the caller's lives in registers.
template <class Discipline>
[[gnu::always_inline]] inline void run_events(PendingTasks& tasks, Discipline& discipline) {
  for (std::size_t i = 0; i < tasks.size(); ++i)
    if (tasks[i].waiting == 0) discipline.ready(i);
  std::size_t count = 0;
  for (Ended ended = discipline.next(); ended.place >= 0; ended = discipline.next()) {
    ++count;
    for (const TaskId dependent : tasks.dependents(static_cast<std::size_t>(ended.place))) {
      PendingTasks::Node& other = tasks[dependent.index()];
      other.ready = std::max(other.ready, ended.end);
      if (--other.waiting > 0) continue;
      tasks.prefetch_dependents(dependent.index());
      discipline.ready(dependent.index());
    }
  }
  CHECK(count == tasks.size(), "a task never started");
}

}  // namespace strato
