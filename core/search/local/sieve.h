// Tells which strategies need no evaluation, since their bounds (program_bound.h) say that they are
// no better than what they would have to beat. A look costs a lowering, which is less than an
// evaluation, but not nothing: a round in which few are left out is soon done with looking.
// Nothing is remembered from round to round. One thread at a time.
#pragma once

#include <cstddef>

#include "core/search/api/evaluator.h"
#include "core/search/evaluate/program_bound.h"

namespace strato {

class Sieve {
 public:
  explicit Sieve(const Problem& problem) : bound_(problem) {}

  void begin_round(std::size_t most);  // leaves out at most so many
  bool leaves_out(const Strategy& strategy, const Score& to_beat);
  // Tells whether an evaluated strategy is faster than its bound: the bound cannot be trusted then.
  bool is_contradicted_by(const Strategy& strategy, const Score& score);

 private:
  ProgramBound bound_;
  std::size_t most_ = 0, looks_ = 0, left_out_ = 0;  // in this round
};

}  // namespace strato
