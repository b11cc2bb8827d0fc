// Good schedules in milliseconds: what the integer program starts from and has to beat.
#pragma once

#include <span>
#include <stop_token>
#include <vector>

#include "core/schedule/dag/transfer_times.h"
#include "core/schedule/list/schedule.h"

namespace strato::exact {

// What is scheduled, and on what. Refers to all of it.
struct Instance {
  const Dag& dag;
  const TransferTimes& transfers;
  const Cluster& cluster;
};

// Nodes that have to be on one device: co-location groups, and each other node alone. Numbered by
// their first nodes.
struct PlacementClasses {
  explicit PlacementClasses(const Dag& dag);
  std::vector<std::int32_t> of_node;
  std::vector<std::vector<NodeIndex>> nodes;  // of each, ascending
};

// The nodes where they are told to be, each at its earliest start in this (topological) order, idle
// time included; one that takes no time starts when its inputs are there.
Schedule schedule_in_order(const Instance& instance, std::span<const DeviceId> device,
                           std::span<const NodeIndex> order);

// HEFT (Topcuoglu, Hariri & Wu 2002), every device alone, and the devices filled one after another,
// each improved by moving single placement classes while that helps. The best of them: one that
// fits before one that does not, then the least overflow, then the shortest.
Schedule best_list_schedule(const Instance& instance, std::stop_token stop);

// Topological, as far as it can by rising `key`; ties by node.
std::vector<NodeIndex> topological_by(const Dag& dag, std::span<const std::int64_t> key);

}  // namespace strato::exact
