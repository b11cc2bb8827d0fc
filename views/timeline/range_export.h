// A range of time as text for other programs. Pure functions; safe from any thread.
#pragma once

#include <string>

#include "core/graph/group/grouping.h"
#include "core/sim/engine/simulate.h"

namespace strato {

// A line for each task that runs in [begin, end), by start: times in nanoseconds, as simulated.
// `grouping` is of the timeline's graph; null: the column stays empty.
std::string range_csv(const Timeline& timeline, const Grouping* grouping, Nanos begin, Nanos end);

// Of a whole step's Chrome trace what is in [begin, end): slices that overlap it, arrows inside it,
// counters with their value at its begin. Throws InputError when it is not such a trace.
std::string range_of_trace(const std::string& trace, Nanos begin, Nanos end);

}  // namespace strato
