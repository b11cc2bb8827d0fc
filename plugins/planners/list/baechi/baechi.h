// The planners "m-topo", "m-etf" and "m-sct" of Baechi (Jeon et al.: "Baechi: fast device placement
// of machine learning graphs", SoCC 2020): see below, earliest_task_first.h, favourites.h. The
// model's costs stand in for Baechi's profile of a run.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "core/schedule/dag/transfer_times.h"
#include "core/schedule/list/schedule.h"
#include "core/schedule/list/steps.h"
#include "core/search/api/planner.h"

namespace strato {

// "m-topo", "m-etf" or "m-sct".
std::unique_ptr<Planner> make_baechi(std::string_view name);

namespace baechi {

// m-TOPO: the ops in breadth-first topological order fill one device after another, each up to an
// equal share of the memory needed and the largest op. Time plays no part.
//
// A device that is smaller than its share takes what it holds, the others more. A node without room
// on this device and those after it goes to the emptiest. The first node of a co-location group
// decides for all of it, and its device takes the memory of all; in the paper's variant that of the
// nodes seen so far, which may be too many in the end (Celeritas 6.1, 6.4).
struct MemoryTopoOptions {
  double memory = 1;           // part of every device's memory that may be used
  bool reserve_groups = true;  // false: the paper's variant
};
Schedule memory_topo(const Dag& dag, const TransferTimes& transfers, const Cluster& cluster,
                     const MemoryTopoOptions& options, PlanningSteps* steps = nullptr);

// The bytes up to which each device may be filled: L + largest, but not above its capacity, with
// the least L for which the devices together hold all L's (all that they can, where that is not
// enough).
std::vector<Bytes> shares_of(Bytes total, Bytes largest, std::vector<Bytes> capacities);

}  // namespace baechi
}  // namespace strato
