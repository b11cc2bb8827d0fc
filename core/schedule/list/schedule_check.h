// Tells by times and places alone whether a schedule is valid.
#pragma once

#include <string>

#include "core/schedule/list/schedule.h"

namespace strato {

// Empty when the schedule is valid: every node once on an existing device for its time, no two that
// take time overlapping on one, no node before its inputs can be there, co-location kept, makespan
// and memory right. Otherwise what is wrong first. Knows nothing of how it was made.
std::string problem_with(const Schedule& schedule, const Dag& dag, const TransferTimes& transfers,
                         const Cluster& cluster);

}  // namespace strato
