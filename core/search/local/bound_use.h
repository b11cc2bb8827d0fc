// What a search uses bounds for: of a problem with few strategies it lists them all
// (small_space.h), of any other it prunes proposals (bound_pruning.h). An evaluator may measure, or
// add to strategies what bounds know nothing of: once a strategy is faster than its bound, none is
// used any more. One thread at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/search/local/bound_pruning.h"

namespace strato {

class BoundUse {
 public:
  // `legal`: actions by group.
  BoundUse(const Problem& problem, std::span<const std::vector<std::int32_t>> legal, bool use,
           bool prune);

  bool is_small() const { return small_; }  // and all strategies are listed
  bool is_contradicted() const { return contradicted_; }
  void distrust();

  // Before a local search proposes for a round of `batch` evaluations: its incumbent.
  void begin_round(const Strategy& incumbent, const Score& score, std::size_t batch);
  bool prunes(const Strategy& strategy, const Score& to_beat) {
    return pruning_ && pruning_->prunes(strategy, to_beat);
  }

 private:
  bool small_;
  bool contradicted_ = false;
  std::optional<BoundPruning> pruning_;
  std::optional<Strategy> checked_;  // the last incumbent that was not faster than its bound
};

}  // namespace strato
