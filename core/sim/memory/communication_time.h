// For how long each device communicates. Private to core/sim.
#pragma once

#include "core/sim/memory/task_schedule.h"

namespace strato {

// Fills communication_busy: the time in which at least one of a device's communication streams is
// busy. Where just one ever is, that is known already; else a pass over the tasks finds out.
void take_communication_time(const TaskRows& tasks, const TaskSchedule& schedule,
                             IdVector<DeviceId, DeviceUse>& devices);

}  // namespace strato
