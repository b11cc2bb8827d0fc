// From a schedule to the figures of its step. Private to core/sim.
#pragma once

#include "core/sim/memory/memory_account.h"
#include "core/sim/memory/task_rows.h"
#include "core/sim/memory/task_schedule.h"

namespace strato {

// Devices of the cluster on which nothing is resident and nothing runs.
void reset_devices(const Cluster& cluster, SimulatedStep& figures);
// Everything but what is resident, which is there already, and the devices' capacity.
void take_figures(const TaskRows& tasks, const TaskSchedule& schedule, MemoryAccount& memory,
                  SimulatedStep& figures);

}  // namespace strato
