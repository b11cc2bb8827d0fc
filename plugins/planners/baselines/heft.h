// The planner "heft": list scheduling by upward rank (heft_schedule.h).
#pragma once

#include <memory>

#include "core/search/api/planner.h"

namespace strato {

std::unique_ptr<Planner> make_heft();

}  // namespace strato
