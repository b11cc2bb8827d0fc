// Finds what each task of a timeline waited for last: the critical path, its pieces and the
// devices' gaps are all made from this.
#pragma once

#include <cstdint>
#include <vector>

#include "core/sim/explain/critical_path.h"

namespace strato {

// A task on a chain in which each task starts when the one before it ends.
struct ChainStep {
  TaskId task;
  CriticalStep::Why why = CriticalStep::Why::Start;
  TaskId before;    // invalid: it starts with the step
  ResourceId held;  // of Why::Resource: what `before` held
};

class Causes {
 public:
  explicit Causes(const Timeline& timeline);
  ChainStep of(TaskId task) const;
  // First to last, up to and with `task`; the first one is the one that runs at `since`.
  std::vector<ChainStep> chain_to(TaskId task, Nanos since = Nanos(0)) const;
  // Returns the task that shared a link with a communication task for longest; the task itself when
  // it was alone. Only a bounded number of neighbours in time are tried.
  TaskId sharer(TaskId task) const;

 private:
  bool is_exclusive(ResourceId resource) const;
  TaskId ended_at(ResourceId resource, Nanos moment) const;

  const Timeline& timeline_;
  std::vector<std::uint32_t> begin_;  // by resource, into tasks_
  std::vector<TaskId> tasks_;         // of a resource, ascending by end
};

TaskId last_task(const Timeline& timeline);  // the first of those that end last; invalid: no tasks

}  // namespace strato
