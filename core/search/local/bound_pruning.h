// Tells which strategies need no evaluation, since their bounds (program_bound.h) say that they are
// no better than what they would have to beat. To bound one costs a lowering, which is less than an
// evaluation, but not nothing: a round in which few are pruned soon bounds no more of them. Nothing
// is remembered from round to round. One thread at a time.
#pragma once

#include <cstddef>

#include "core/search/api/evaluator.h"
#include "core/search/evaluate/program_bound.h"

namespace strato {

class BoundPruning {
 public:
  explicit BoundPruning(const Problem& problem) : bound_(problem) {}

  void begin_round(std::size_t most);  // prunes at most so many
  bool prunes(const Strategy& strategy, const Score& to_beat);
  // A strategy that was evaluated is faster than its bound: no bound can be trusted.
  bool is_contradicted_by(const Strategy& strategy, const Score& score);

 private:
  ProgramBound bound_;
  std::size_t most_ = 0, bounded_ = 0, pruned_ = 0;  // in this round
};

}  // namespace strato
