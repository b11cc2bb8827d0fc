// The part of a strategy beyond one decision a group of the problem, held fast while a search
// changes the decisions: groups of its own, splits, an execution order, gradient buckets,
// duplicated ops.
#pragma once

#include <vector>

#include "core/search/api/planner.h"

namespace strato::portfolio {

class Frame {
 public:
  // The problem's groups and nothing else.
  explicit Frame(const Problem& problem) : problem_(problem) {}
  // All that is `strategy`'s own.
  Frame(const Problem& problem, const Strategy& strategy);

  // True when a strategy says anything beyond decisions for the problem's groups.
  static bool is_needed(const Problem& problem, const Strategy& strategy);

  const Problem& problem() const { return problem_; }  // in the groups of the frame
  bool is_empty() const { return empty_; }
  // True when the strategy is in the same groups.
  bool holds(const Strategy& strategy) const;
  Strategy inside(const Strategy& strategy) const;  // its decisions only
  Strategy complete(const Strategy& inside) const;  // with what the frame holds fast

 private:
  Problem problem_;
  bool empty_ = true;
  Strategy rest_;  // without groups
};

// Scores the decisions that a search asks for inside a frame. Refers to both.
class FramedEvaluator final : public Evaluator {
 public:
  FramedEvaluator(Evaluator& inner, const Frame& frame)
      : Evaluator(inner.cluster()), inner_(inner), frame_(frame) {}
  std::vector<Score> score(std::span<const CompleteStrategy> strategies) override;

 private:
  Evaluator& inner_;
  const Frame& frame_;
};

}  // namespace strato::portfolio
