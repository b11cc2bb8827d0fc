// Where the time of a rank's devices goes, as HolisticTraceAnalysis defines it
// (hta/analyzers/breakdown_analysis.py, communication_analysis.py).
#pragma once

#include <array>
#include <span>
#include <vector>

#include "core/trace/device/kernels.h"

namespace strato::trace {

// idle + compute + non_compute = total.
struct Breakdown {
  Nanos total;        // from the start of the first kernel to the end of the last
  Nanos idle;         // nothing runs
  Nanos compute;      // at least one computation runs
  Nanos non_compute;  // only communication or copies run
  std::array<Nanos, kKernelTypes> busy{};  // at least one of the type runs
  Nanos overlapped;                        // communication and computation run
  Nanos exposed;                           // communication runs, computation does not

  double overlap_fraction() const;  // of the time in which communication runs; 0: there is none
};
Breakdown breakdown(std::span<const Kernel> kernels);

// Why a stream runs nothing between a kernel and the next.
struct IdleCauses {
  LaneId stream;
  Nanos host_wait;    // the next was launched after the one before had ended
  Nanos kernel_wait;  // not that, and shorter than kConsecutiveDelay
  Nanos other;
  Nanos total() const { return host_wait + kernel_wait + other; }
};
inline constexpr Nanos kConsecutiveDelay{30'000};
// One a stream, in the order of their lanes. Kernels that overlap count as negative idle time, as
// there.
std::vector<IdleCauses> idle_causes(const Trace& trace, std::span<const Kernel> kernels);

}  // namespace strato::trace
