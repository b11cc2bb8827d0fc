// Placement and schedule by integer programming, in the style of Pesto (Hafeez et al. 2021,
// "Towards optimal placement and scheduling of DNN operations with Pesto"): the graph is coarsened
// to few nodes, Cbc finds the placement and order with the shortest makespan (formulation.h), and
// ops follow their nodes. A result comes with its proven bound and gap, which hold for the coarse
// nodes and whole ops: replication is not in this space.
#pragma once

#include <stop_token>

#include "core/plugin/api/planner_function.h"
#include "plugins/planners/search/exact/list_schedules.h"

namespace strato::exact {

struct Settings {
  double limit = 10;  // seconds
  std::size_t nodes = 40;

  OptionTable option_table();
};

// The planner "exact".
PlanResult plan(const PlanRequest& request, const Settings& settings);

// The shortest schedule that integer programming finds (formulation.h).
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
