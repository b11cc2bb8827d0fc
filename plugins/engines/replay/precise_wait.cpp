#include "plugins/engines/replay/precise_wait.h"

#include <time.h>

#include <cerrno>

namespace strato::replay {
namespace {

constexpr Nanos kSpin(60'000);
constexpr std::int64_t kSecond = 1'000'000'000;

}  // namespace

Nanos now() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return Nanos(std::int64_t{time.tv_sec} * kSecond + time.tv_nsec);
}

void wait_until(Nanos end) {
  const Nanos wake = end - kSpin;
  if (wake > now()) {
    const timespec at{static_cast<time_t>(wake.value / kSecond),
                      static_cast<long>(wake.value % kSecond)};
    while (::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, nullptr) == EINTR) {
    }
  }
  while (now() < end) {
  }
}

}  // namespace strato::replay
