// Stretches of time: how long they are together, and how long two sets of them run side by side.
// Pure; safe from any thread.
#pragma once

#include <vector>

#include "core/base/units.h"

namespace strato {

struct Span {
  Nanos begin, end;
};
using Spans = std::vector<Span>;  // ascending; each begins when the one before has ended, or later

// The time that any of them covers; they come in any order, and may run side by side.
Spans united(std::vector<Span> any);
Nanos length(const Spans& spans);
Nanos overlap(const Spans& a, const Spans& b);

}  // namespace strato
