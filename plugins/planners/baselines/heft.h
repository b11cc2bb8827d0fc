// HEFT (Topcuoglu, Hariri, Wu: "Performance-effective and low-complexity task scheduling for
// heterogeneous computing", IEEE TPDS 13(3), 2002, section 4.1): nodes in the order of their upward
// ranks with mean costs, each on the device where it finishes first, idle time between others
// included. Beyond the paper: devices have a memory capacity, and nodes may be co-located; a node
// that has room nowhere goes to the emptiest device. Ties: the smaller node, the smaller device.
#pragma once

#include "core/schedule/dag/transfer_times.h"
#include "core/schedule/list/placement.h"

namespace strato::heft {

// `memory`: the part of every device's memory that may be used. Fills ranking and steps of `steps`,
// unless it is null.
Schedule schedule(const Dag& dag, const TransferTimes& transfers, const Cluster& cluster,
                  double memory, PlanningSteps* steps = nullptr);

// The planner "heft".
PlanResult plan(const PlanRequest& request, const ListPlannerSettings& settings);

}  // namespace strato::heft
