// All ranks on one axis: clocks of machines differ, and collectives end on all ranks at once.
#pragma once

#include <span>
#include <vector>

#include "core/trace/analyse/matches.h"

namespace strato::trace {

struct Alignment {
  std::vector<Nanos> offset;  // to be added to the times of each trace
  std::vector<bool> aligned;  // false: nothing of that rank matches; its offset is 0
  std::size_t matches = 0;
  Nanos typical_error, worst_error;  // how far ends of one collective are apart with the offsets
};

// The first trace keeps its clock. The offset between two ranks is the median difference of the
// ends of the collectives that both took part in; through others where they share none.
Alignment align(std::span<const Trace> traces, std::span<const Match> matches);

// Who arrives last at collectives, with the clocks aligned.
struct Arrivals {
  std::int64_t matched = 0;  // calls
  std::int64_t last = 0;     // of them, with this rank as the last
  Nanos waited;              // for the last one
  Nanos held_up;             // what others waited for this one
};
// By trace. Ranks that are not aligned are left out.
std::vector<Arrivals> arrivals(std::span<const Trace> traces, std::span<const Match> matches,
                               const Alignment& alignment);

}  // namespace strato::trace
