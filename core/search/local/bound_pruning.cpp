#include "core/search/local/bound_pruning.h"

namespace strato {

void BoundPruning::begin_round(std::size_t most) {
  most_ = most;
  bounded_ = pruned_ = 0;
}

bool BoundPruning::prunes(const Strategy& strategy, const Score& to_beat) {
  constexpr std::size_t kFirst = 3, kOneIn = 3;
  if (!to_beat.feasible || pruned_ >= most_) return false;
  if (bounded_ >= kFirst && pruned_ * kOneIn < bounded_) return false;
  ++bounded_;
  const bool hopeless = bound_.of(strategy) >= to_beat.step_time;
  if (hopeless) ++pruned_;
  return hopeless;
}

bool BoundPruning::is_contradicted_by(const Strategy& strategy, const Score& score) {
  return score.feasible && score.step_time < bound_.of(strategy);
}

}  // namespace strato
