#include "core/search/local/sieve.h"

namespace strato {

void Sieve::begin_round(std::size_t most) {
  most_ = most;
  looks_ = left_out_ = 0;
}

bool Sieve::leaves_out(const Strategy& strategy, const Score& to_beat) {
  constexpr std::size_t kFirst = 3, kOneIn = 3;
  if (!to_beat.feasible || left_out_ >= most_) return false;
  if (looks_ >= kFirst && left_out_ * kOneIn < looks_) return false;
  ++looks_;
  const bool hopeless = bound_.of(strategy) >= to_beat.step_time;
  if (hopeless) ++left_out_;
  return hopeless;
}

bool Sieve::is_contradicted_by(const Strategy& strategy, const Score& score) {
  return score.feasible && score.step_time < bound_.of(strategy);
}

}  // namespace strato
