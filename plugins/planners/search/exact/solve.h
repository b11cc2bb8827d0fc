// The shortest schedule that integer programming finds (formulation.h).
#pragma once

#include <stop_token>

#include "plugins/planners/search/exact/list_schedules.h"

namespace strato::exact {

struct Solution {
  Schedule schedule;     // the best that was found; its `fits` says whether memory suffices
  Nanos bound;           // no schedule that fits is shorter
  bool proven = false;   // the schedule is optimal or, where it does not fit, none does
  Nanos first_makespan;  // of the list schedule that the program started from
};

// Stops after `seconds`, or soon after it is asked to, with the best so far. When it ends before,
// the result depends on its arguments alone. Safe from any thread; prints nothing.
Solution solve(const Instance& instance, double seconds, std::stop_token stop = {});

}  // namespace strato::exact
