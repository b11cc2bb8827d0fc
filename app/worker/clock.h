// Time as a worker takes it: nanoseconds of CLOCK_MONOTONIC.
#pragma once

#include <time.h>

#include <cstdint>

namespace strato::worker {

inline std::int64_t now_ns() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

}  // namespace strato::worker
