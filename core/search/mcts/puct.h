// The selection rule's terms (TAG 4.2.2), shared by the search and by those who show it:
//   U(s, a) = Q(s, a) + c G(s, a) sqrt(sum N) / (1 + N(s, a)).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>

#include "core/search/mcts/tree_options.h"

namespace strato {

// Maps values to what enters U: between a low quantile of all rewards and the best one to [0, 1],
// with -1 as the least; or not at all.
class ValueScale {
 public:
  // `rewards`: ascending.
  ValueScale(std::span<const float> rewards, const TreeSearchOptions& options)
      : ValueScale(
            rewards.size(), [&](std::size_t place) { return rewards[place]; }, options) {}
  // `reward(place)`: the place-th smallest of `count` rewards.
  template <class Reward>
  ValueScale(std::size_t count, Reward&& reward, const TreeSearchOptions& options)
      : on_(options.normalise && count > 0) {
    if (!on_) return;
    const auto at = static_cast<std::size_t>(options.low_quantile * static_cast<double>(count));
    low_ = reward(std::min(at, count - 1));
    high_ = reward(count - 1);
  }
  double operator()(double value) const {
    if (!on_) return value;
    if (high_ - low_ < 1e-9) return value >= high_ ? 1 : 0;
    return std::clamp((value - low_) / (high_ - low_), -1.0, 1.0);
  }

 private:
  bool on_;
  double low_ = 0, high_ = 0;
};

// c G sqrt(sum N) / (1 + N), with G times a person's weight.
inline double exploration(const TreeSearchOptions& options, std::size_t actions, double prior,
                          double parent_visits, double visits) {
  const double scale = options.relative_prior ? static_cast<double>(actions) : 1.0;
  return options.c * scale * prior * std::sqrt(std::max(parent_visits, 1.0)) / (1 + visits);
}

// Whether progressive widening lets a vertex with so many visits open one more action.
inline bool may_widen(const TreeSearchOptions& options, double visits, std::size_t open) {
  return options.widening <= 0 ||
         static_cast<double>(open) <
             std::max(1.0, options.widening * std::sqrt(std::max(visits, 1.0)));
}

}  // namespace strato
