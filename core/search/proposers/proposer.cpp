#include "core/search/proposers/proposer.h"

#include <algorithm>

namespace strato {

std::size_t best_of(std::span<const Score> scores) {
  const auto best = std::ranges::min_element(
      scores, [](const Score& a, const Score& b) { return a.better_than(b); });
  return static_cast<std::size_t>(best - scores.begin());
}

}  // namespace strato
