// The chain of tasks that makes the step as long as it is, and what each task of a timeline waited
// for last: the path, its pieces and the devices' gaps are all made from this.
#pragma once

#include <cstdint>
#include <vector>

#include "core/sim/timeline/timeline.h"

namespace strato {

// A task on a chain in which each task starts when the one before it ends: its last dependency, or
// the task that held a resource.
struct CriticalStep {
  TaskId task;
  enum class Why : std::uint8_t { Start, Dependency, Resource } why;  // what it waited for last
  TaskId before = {};    // invalid: it starts with the step
  ResourceId held = {};  // of Why::Resource: what `before` held
};
std::vector<CriticalStep> critical_path(const Timeline& timeline);  // first to last

class Causes {
 public:
  explicit Causes(const Timeline& timeline);
  CriticalStep of(TaskId task) const;
  // First to last, up to and with `task`; the first one is the one that runs at `since`.
  std::vector<CriticalStep> chain_to(TaskId task, Nanos since = Nanos(0)) const;
  // Returns the task that shared a link with a communication task for longest; the task itself when
  // it was alone. Only a bounded number of neighbours in time are tried.
  TaskId sharer(TaskId task) const;

 private:
  bool is_exclusive(ResourceId resource) const;
  TaskId ended_at(ResourceId resource, Nanos moment) const;

  const Timeline& timeline_;
  IdVector<ResourceId, std::vector<TaskId>> tasks_;  // that use it, ascending by end
};

TaskId last_task(const Timeline& timeline);  // the first of those that end last; invalid: no tasks

}  // namespace strato
