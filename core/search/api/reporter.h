// Tells an observer what a search does, but not more often than it is good for.
#pragma once

#include <chrono>

#include "core/search/api/planner.h"

namespace strato {

class Reporter {
 public:
  explicit Reporter(Observer& observer) : observer_(observer) {}

  double elapsed() const { return seconds(Clock::now() - start_); }
  void improvement(const Strategy& strategy, const Progress& progress) {
    observer_.on_improvement(strategy, *progress.best, progress);
  }
  void progress(const Progress& progress, bool last) {
    if (!last && elapsed() - last_progress_ < 0.1) return;
    last_progress_ = elapsed();
    observer_.on_progress(progress);
  }
  // `make` copies the tree: called only when it is time.
  template <class Make>
  void tree(Make&& make) {
    if (elapsed() - last_tree_ < 0.5) return;
    last_tree_ = elapsed();
    observer_.on_tree(make());
  }

 private:
  using Clock = std::chrono::steady_clock;
  static double seconds(Clock::duration d) { return std::chrono::duration<double>(d).count(); }

  Observer& observer_;
  Clock::time_point start_ = Clock::now();
  double last_progress_ = 0, last_tree_ = 0;
};

}  // namespace strato
