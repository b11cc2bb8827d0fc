// The chain of tasks that makes the step as long as it is.
#pragma once

#include <vector>

#include "core/sim/timeline/timeline.h"

namespace strato {

// Why the step takes as long as it does: a chain of tasks, last first in time reversed to
// first-to-last, in which each task starts when the one before it ends (its last dependency, or the
// task that held a resource).
struct CriticalStep {
  TaskId task;
  enum class Why : std::uint8_t { Start, Dependency, Resource } why;  // what it waited for last
};
std::vector<CriticalStep> critical_path(const Timeline& timeline);

}  // namespace strato
