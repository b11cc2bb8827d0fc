// A count that one thread raises and others wait for. Waiting spins for a moment, since what is
// waited for is mostly near, and sleeps then.
#pragma once

#include <atomic>
#include <cstdint>

namespace strato::worker {

class Progress {
 public:
  // True once the count is at least `count`; false when it was stopped before.
  bool wait(std::uint32_t count) const {
    std::uint32_t now = value_.load(std::memory_order_acquire);
    for (int spin = 0; spin < kSpins && !reached(now, count); ++spin) {
      pause();
      now = value_.load(std::memory_order_acquire);
    }
    while (!reached(now, count)) {
      value_.wait(now, std::memory_order_acquire);
      now = value_.load(std::memory_order_acquire);
    }
    return (now & kStopped) == 0;
  }
  // From one thread at a time.
  void raise(std::uint32_t count) {
    std::uint32_t now = value_.load(std::memory_order_relaxed);
    while (!value_.compare_exchange_weak(now, (now & kStopped) | count, std::memory_order_release,
                                         std::memory_order_relaxed)) {
    }
    value_.notify_all();
  }
  std::uint32_t count() const { return value_.load(std::memory_order_acquire) & ~kStopped; }
  // While nobody waits and nobody raises it.
  void reset() { value_.fetch_and(kStopped, std::memory_order_relaxed); }
  // Wakes everyone who waits, for good.
  void stop() {
    value_.fetch_or(kStopped, std::memory_order_release);
    value_.notify_all();
  }

 private:
  static constexpr std::uint32_t kStopped = std::uint32_t{1} << 31;
  static constexpr int kSpins = 64;

  static bool reached(std::uint32_t now, std::uint32_t count) {
    return (now & kStopped) != 0 || now >= count;
  }
  static void pause() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }

  std::atomic<std::uint32_t> value_{0};
};

}  // namespace strato::worker
