// What a rank's devices do at every moment, as one line: computation hides communication, both
// hide the rest.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "core/trace/device/kernels.h"

namespace strato::trace {

enum class Activity : std::uint8_t {
  Computing,
  Communicating,  // and nothing computes
  Other,          // copies and the like
  HostWait,       // idle: what runs next was launched after this had begun
  KernelWait,     // idle: not that, and shorter than kConsecutiveDelay
  Idle            // for another reason
};
inline constexpr int kActivities = 6;

struct Stretch {
  Interval time;
  Activity activity = Activity::Idle;
  Collective collective = Collective::Unknown;  // of what communicates; of several the first
};

// Ascending, none of them empty.
struct Course {
  std::vector<Stretch> stretches;  // without a hole between the first and the last
  std::vector<Stretch> hidden;     // communication beside which something computes
};

// `communication`: ascending by its begin; what overlaps is cut. What is left between them is
// Idle.
Course make_course(const Intervals& computing, std::vector<Stretch> communication,
                   const Intervals& other);

// From the start of the first kernel to the end of the last. Its sums are those of breakdown().
Course course_of(const Trace& trace, std::span<const Kernel> kernels);

}  // namespace strato::trace
