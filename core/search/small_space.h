// All strategies of a problem with few of them, in ascending order of a bound that lowering alone
// gives: the longest path through the program's tasks, and the work of its busiest resource (on
// exclusive links). Where the optimum's bound is close, it comes early, and what is left when the
// next bound is no better than the best needs no look: branch and bound, best first.
//
// The bound holds for what the simulator makes of a strategy in which nothing is duplicated or
// split by hand; not for times that are measured, which is why the search checks it.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <stop_token>
#include <utility>
#include <vector>

#include "core/search/local_search.h"
#include "core/search/problem.h"

namespace strato {

class SmallSpace {
 public:
  // `legal`: actions by group. Nothing is listed when it was asked to stop. `beat` is called again
  // and again on this thread while it takes its time.
  SmallSpace(const Problem& problem, const std::vector<Decision>& actions,
             std::vector<std::vector<std::int32_t>> legal, std::stop_token stop = {},
             const std::function<void()>& beat = nullptr);
  static double count_of(std::span<const std::vector<std::int32_t>> legal);  // may be huge
  // Whether there are few enough to lower them all, in about a second.
  static bool is_small(const Problem& problem, std::span<const std::vector<std::int32_t>> legal);

  std::size_t size() const { return ranked_.size(); }
  Nanos bound(std::size_t place) const { return ranked_[place].first; }
  ActionVector strategy(std::size_t place) const;
  Nanos bound_of(const ActionVector& strategy) const;  // 0 of one that is not listed

 private:
  std::vector<std::vector<std::int32_t>> legal_;
  std::vector<std::pair<Nanos, std::uint32_t>> ranked_;  // bound and number
};

}  // namespace strato
