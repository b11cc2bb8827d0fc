// The bounds of lowered programs, and what a search uses them for: where there are few strategies
// it goes through them in the order of their bounds, else it leaves out what cannot be better. An
// evaluator may measure, or add to strategies what bounds know nothing of: once a strategy is
// faster than its bound, none is used any more. One thread at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <utility>
#include <vector>

#include "core/program/lower/lower.h"
#include "core/program/place/symmetry.h"
#include "core/search/api/evaluator.h"
#include "core/search/tree/search_tree.h"

namespace strato {

// A bound of what a strategy's step takes that lowering alone gives, without simulating: the
// longest path through the program's tasks, and the work of its busiest resource (on exclusive
// links). It holds for what the simulator makes of the strategy.
class ProgramBound {
 public:
  explicit ProgramBound(const Problem& problem)
      : cluster_(problem.cluster),
        lowering_(problem.graph, problem.grouping, problem.cluster, problem.cost) {}

  Nanos of(const Strategy& strategy);

 private:
  std::shared_ptr<const Cluster> cluster_;
  Lowering lowering_;
  Program program_;  // its arrays, and those below, are reused
  Fold fold_;
  std::vector<Nanos> ends_;  // by task
  std::vector<Nanos> busy_;  // by resource
};

// All strategies of a problem with few of them, in ascending order of their bounds. Where the
// optimum's bound is close, it comes early, and what is left when the next bound is no better than
// the best needs no look: branch and bound, best first.
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

// Tells which strategies need no evaluation, since their bounds say that they are no better than
// what they would have to beat. To bound one costs a lowering, which is less than an evaluation,
// but not nothing: a round in which few are pruned soon bounds no more of them. Nothing is
// remembered from round to round.
class BoundPruning {
 public:
  explicit BoundPruning(const Problem& problem) : bound_(problem) {}

  void begin_round(std::size_t most);  // prunes at most so many
  bool prunes(const Strategy& strategy, const Score& to_beat);
  // A strategy that was evaluated is faster than its bound: no bound can be trusted.
  bool is_contradicted_by(const Strategy& strategy, const Score& score) {
    return score.feasible && score.step_time < bound_.of(strategy);
  }

 private:
  ProgramBound bound_;
  std::size_t most_ = 0, bounded_ = 0, pruned_ = 0;  // in this round
};

// Of a problem with few strategies a search lists them all, of any other it prunes proposals.
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
