// Good schedules in milliseconds: what the integer program starts from and has to beat.
#pragma once

#include <span>
#include <stop_token>
#include <vector>

#include "core/schedule/dag/transfer_times.h"
#include "core/schedule/list/schedule.h"

namespace strato::exact {

// The nodes where they are told to be, each at its earliest start in this (topological) order, idle
// time included; one that takes no time starts when its inputs are there.
Schedule schedule_in_order(const Dag& dag, const TransferTimes& transfers, const Cluster& cluster,
                           std::span<const DeviceId> device, std::span<const NodeIndex> order);

// HEFT (Topcuoglu, Hariri & Wu 2002), every device alone, and the devices filled one after another,
// each improved by moving single placement classes while that helps. The best of them: one that
// fits before one that does not, then the least overflow, then the shortest.
Schedule best_list_schedule(const Dag& dag, const TransferTimes& transfers, const Cluster& cluster,
                            std::stop_token stop);

// Topological, as far as it can by rising `key`; ties by node.
std::vector<NodeIndex> topological_by(const Dag& dag, std::span<const std::int64_t> key);

}  // namespace strato::exact
