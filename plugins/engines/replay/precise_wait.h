// Waiting for a short time, to the microsecond.
#pragma once

#include <ctime>

#include "core/base/units.h"

namespace strato::replay {

// Nanoseconds of the monotonic clock.
Nanos now();
// Sleeps until shortly before, then looks at the clock until it is there: the core is busy for the
// last 60 us only, as the system may wake a thread that much too late.
void wait_until(Nanos end);

}  // namespace strato::replay
