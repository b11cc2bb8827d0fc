// What the allocators of devices held, where the profiler recorded it.
#pragma once

#include <vector>

#include "core/trace/value/trace.h"

namespace strato::trace {

struct MemoryPeak {
  std::int64_t device = 0;
  Bytes allocated, reserved;  // the most of each
  Nanos at;                   // first moment with that much allocated
};
std::vector<MemoryPeak> memory_peaks(const Trace& trace);  // by device

}  // namespace strato::trace
