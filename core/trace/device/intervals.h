// Times in which something runs, as unions of half-open intervals.
#pragma once

#include <vector>

#include "core/base/units.h"

namespace strato::trace {

struct Interval {
  Nanos begin, end;  // begin <= end
  Nanos length() const { return end - begin; }
  friend bool operator==(const Interval&, const Interval&) = default;
};

// Ascending, with something between one and the next, none of them empty.
using Intervals = std::vector<Interval>;

Intervals merged(std::vector<Interval> any);
Nanos length(const Intervals& of);
Nanos overlap(const Intervals& a, const Intervals& b);    // the length of what is in both
Intervals minus(const Intervals& a, const Intervals& b);  // what is in the first alone

}  // namespace strato::trace
