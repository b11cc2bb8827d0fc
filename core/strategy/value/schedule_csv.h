// A schedule by hand as a file, in the form of PyTorch's pipeline schedules (schedule_table.h).
#pragma once

#include <string>

#include "core/strategy/value/schedule_table.h"

namespace strato {

// What parse_schedule_csv() reads: a line for each row, its cells apart by commas.
std::string schedule_csv(const ScheduleTable& table);

}  // namespace strato
