// Placement and schedule by integer programming, in the style of Pesto (Hafeez et al. 2021,
// "Towards optimal placement and scheduling of DNN operations with Pesto"): the graph is coarsened
// to few nodes, Cbc finds the placement and order with the shortest makespan (formulation.h), and
// ops follow their nodes. A result comes with its proven bound and gap, which hold for the coarse
// nodes and whole ops: replication is not in this space.
#pragma once

#include "core/plugin/api/planner_function.h"

namespace strato::exact {

struct Settings {
  double limit = 10;  // seconds
  std::size_t nodes = 40;

  OptionTable option_table();
};

// The planner "exact".
PlanResult plan(const PlanRequest& request, const Settings& settings);

}  // namespace strato::exact
