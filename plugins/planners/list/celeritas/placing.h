// The two ways to place the nodes of a dag one by one: in order by memory (Order-Place, Celeritas
// 5.2; the Standard Evaluation's placement, 4.2), and with adjustments (Adjusting Placement,
// Algorithm 2).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/schedule/dag/transfer_times.h"
#include "core/schedule/list/schedule.h"
#include "core/schedule/list/steps.h"

namespace strato::celeritas {

struct PlacingOptions {
  bool adjust = true;  // false: Order-Place
  // Adjust by the earliest finish instead of the earliest start: the same on equal devices, and
  // sees on unequal ones that a later start may be the earlier finish.
  bool by_finish = false;
  std::vector<DeviceId> devices;  // in the order in which they are filled
  Scheduling::Options scheduling;
};

struct Placed {
  Schedule schedule;
  std::int64_t moves =
      0;  // nodes that an adjustment took to another device than their forerunner's
};

// `order`: a topological order of all nodes. `steps`: gets one step a node, or null.
//
// Order-Place stays on one device until a node finds no room there, then goes on to the next device
// that has room, and never back. Adjusting Placement stays on the device of the node before, unless
// that has no room, or another device is earlier by more than it takes to send results back
// (Equation 9). In both the first node of a co-location group decides for the others (6.1), and
// when all devices are full the emptiest takes the node: the schedule then does not fit.
Placed place(const Dag& dag, const TransferTimes& transfers, const Cluster& cluster,
             std::span<const NodeIndex> order, const PlacingOptions& options,
             std::vector<PlanningSteps::Step>* steps = nullptr);

}  // namespace strato::celeritas
