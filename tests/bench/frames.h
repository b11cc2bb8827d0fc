// How long frames of a canvas take.
#pragma once

#include <benchmark/benchmark.h>

#include <algorithm>
#include <ctime>
#include <vector>

namespace strato {

// What each frame took: as a clock shows it, and of this thread's own time, which other programs on
// the machine do not lengthen.
class Frames {
 public:
  void begin() { begun_ = now(); }
  void end() {
    const Times ended = now();
    wall_.push_back(ended.wall - begun_.wall);
    own_.push_back(ended.own - begun_.own);
  }
  void report(benchmark::State& state, std::size_t slices) {
    state.counters["p95_ms"] = high(wall_);
    state.counters["p95_cpu_ms"] = high(own_);
    state.counters["slices"] = static_cast<double>(slices);
  }

 private:
  struct Times {
    double wall = 0, own = 0;  // ms
  };
  static Times now() {
    const auto of = [](clockid_t clock) {
      timespec time{};
      clock_gettime(clock, &time);
      return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) / 1e6;
    };
    return {of(CLOCK_MONOTONIC), of(CLOCK_THREAD_CPUTIME_ID)};
  }
  static double high(std::vector<double>& times) {
    std::ranges::sort(times);
    return times.empty() ? 0 : times[times.size() * 95 / 100];
  }

  Times begun_;
  std::vector<double> wall_, own_;
};

}  // namespace strato
