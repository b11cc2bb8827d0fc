// Calls of the runtime that launched kernels, and where a device waits for them.
#pragma once

#include <span>
#include <unordered_map>
#include <vector>

#include "core/trace/device/kernels.h"

namespace strato::trace {

class Launches {
 public:
  explicit Launches(const Trace& trace);  // which outlives this

  const Event* of(const Event& kernel) const;  // nullptr: not recorded

 private:
  std::unordered_map<std::int64_t, const Event*> by_correlation_;
};

// A stretch of time in which the device mostly waits for the host to launch its next kernel: gaps
// that end with a kernel that was launched after they had begun, and what runs between them, as
// long as that is shorter than the gap before it.
struct LaunchBound {
  Interval time;
  Nanos idle;  // of it
  std::int64_t kernels = 0;
};
// The longest by idle time; at most `most` of them.
std::vector<LaunchBound> launch_bound(const Trace& trace, std::span<const Kernel> kernels,
                                      std::size_t most);

}  // namespace strato::trace
