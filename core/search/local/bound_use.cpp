#include "core/search/local/bound_use.h"

#include "core/search/local/small_space.h"

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

BoundUse::BoundUse(const Problem& problem, std::span<const std::vector<std::int32_t>> legal,
                   bool use, bool prune)
    : small_(use && SmallSpace::is_small(problem, legal)) {
  if (use && prune && !small_) pruning_.emplace(problem);
}

void BoundUse::distrust() {
  contradicted_ = true;
  small_ = false;
  pruning_.reset();
}

void BoundUse::begin_round(const Strategy& incumbent, const Score& score, std::size_t batch) {
  constexpr std::size_t kMost = 4;  // pruned, for each that is evaluated
  if (!pruning_) return;
  pruning_->begin_round(kMost * batch);
  if (checked_ == incumbent) return;
  checked_ = incumbent;
  if (pruning_->is_contradicted_by(incumbent, score)) distrust();
}

}  // namespace strato
