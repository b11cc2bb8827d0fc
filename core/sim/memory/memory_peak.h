// The highest sum of bytes that are taken and released in the order of time. Within a moment
// releases come first.
#pragma once

#include <cstdint>

#include "core/base/units.h"

namespace strato {

struct MemoryEvent {
  std::int64_t moment = 0;  // twice the time in nanoseconds, and one more when bytes are taken
  std::int64_t bytes = 0;   // negative: released

  static MemoryEvent take(Nanos at, Bytes bytes) { return {2 * at.value + 1, bytes.value}; }
  static MemoryEvent release(Nanos at, Bytes bytes) { return {2 * at.value, -bytes.value}; }
  friend bool operator<(const MemoryEvent& a, const MemoryEvent& b) { return a.moment < b.moment; }
};

class MemoryPeak {
 public:
  MemoryPeak() = default;
  explicit MemoryPeak(Bytes used) : used_(used.value), peak_(used.value) {}

  void add(const MemoryEvent& event) {  // in the order of moments
    used_ += event.bytes;
    if (used_ > peak_) peak_ = used_, moment_ = event.moment;
  }
  Bytes bytes() const { return Bytes(peak_); }
  Nanos at() const { return Nanos(moment_ / 2); }  // the first moment at which it is reached

 private:
  std::int64_t used_ = 0, peak_ = 0, moment_ = 0;
};

}  // namespace strato
