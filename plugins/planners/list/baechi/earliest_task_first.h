// m-ETF and the scheduling part of m-SCT (Jeon et al.: "Baechi", SoCC 2020).
//
// ETF (Hwang, Chow, Anger, Lee: "Scheduling precedence graphs in systems with interprocessor
// communication times", SIAM J. Computing 18(2), 1989): of all ready nodes and all devices, the
// pair that starts first, again and again. Ties: the longer b-level, the smaller node; the device
// where it finishes first, the smaller device. m-ETF leaves out devices without room. A node that
// has room nowhere goes to the emptiest device.
//
// With favourites (SCT, Hanen and Munier 1995): after a node, its device is held for its favourite
// child for as long as a transfer to it takes (mean). Meanwhile only the child may start there, or
// an urgent node: one whose inputs are on all devices already, so that nothing is won by having it
// elsewhere. A device whose favourite child went elsewhere is free at once. At equal starts the
// favourite child comes first. A node that takes no time needs no device: it waits for its inputs
// alone.
//
// A pair's start is max(inputs there, device idle), so each device has the ready nodes in two
// heaps: those whose inputs are there already, by rank, and the others by arrival. Idle times only
// grow, so a node moves from one to the other once: O((nodes x devices) log nodes + edges x
// devices), with the same choices as a look at all pairs.
#pragma once

#include <span>

#include "core/schedule/dag/transfer_times.h"
#include "core/schedule/list/schedule.h"
#include "core/schedule/list/steps.h"
#include "plugins/planners/list/baechi/favourites.h"

namespace strato::baechi {

// `memory`: the part of every device's memory that may be used. `b_levels`: for ties. `favourites`:
// null for ETF. Fills ranking and steps of `steps`, unless it is null.
Schedule earliest_task_first(const Dag& dag, const TransferTimes& transfers, const Cluster& cluster,
                             double memory, std::span<const Nanos> b_levels,
                             const Favourites* favourites, PlanningSteps* steps = nullptr);

}  // namespace strato::baechi
