// All strategies of a problem with few of them, in ascending order of the bounds that lowering
// alone gives (program_bound.h). Where the optimum's bound is close, it comes early, and what is
// left when the next bound is no better than the best needs no look: branch and bound, best first.
// Bounds do not hold for times that are measured, which is why the search checks them.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <stop_token>
#include <utility>
#include <vector>

#include "core/search/api/problem.h"
#include "core/search/local/local_search.h"

namespace strato {

class SmallSpace {
 public:
  // `legal`: actions by group. Nothing is listed when it was asked to stop. `beat` is called again
  // and again on this thread while it takes its time.
  SmallSpace(const Problem& problem, const std::vector<Decision>& actions,
             std::vector<std::vector<std::int32_t>> legal, std::stop_token stop = {},
             const std::function<void()>& beat = nullptr);
  static double count_of(std::span<const std::vector<std::int32_t>> legal);  // may be huge
  // Tells whether there are few enough to lower them all, in about a second.
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
