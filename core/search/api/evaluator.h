// An evaluator scores strategies: the only way in which a planner sees the simulator. It takes
// batches, so that several threads (or a remote service) can work on them; caching, counting and
// recording are decorators. Planners call evaluate(), which completes and digests a strategy once;
// evaluators implement score() and hand what is complete on to each other.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "core/search/api/problem.h"
#include "core/sim/engine/simulate.h"
#include "core/sim/timeline/feedback.h"
#include "core/strategy/value/strategy.h"

namespace strato {

struct Score {
  Nanos step_time;
  bool feasible = false;
  Bytes overflow;  // bytes beyond capacity, summed over devices; 0 when feasible
  std::shared_ptr<const Feedback> feedback;  // null unless asked for

  // Feasible before infeasible, then faster, or with less overflow.
  bool better_than(const Score& other) const {
    if (feasible != other.feasible) return feasible;
    if (!feasible && overflow != other.overflow) return overflow < other.overflow;
    return step_time < other.step_time;
  }
};

class Evaluator {
 public:
  virtual ~Evaluator() = default;
  // scores[i] belongs to strategies[i]. Deterministic; blocks; one caller at a time.
  std::vector<Score> evaluate(std::span<const Strategy> strategies) {
    std::vector<CompleteStrategy> whole;
    whole.reserve(strategies.size());
    for (const Strategy& strategy : strategies) whole.emplace_back(strategy, cluster_);
    return score(whole);
  }
  Score evaluate(const Strategy& strategy) { return evaluate(std::span(&strategy, 1))[0]; }
  virtual std::vector<Score> score(std::span<const CompleteStrategy> strategies) = 0;

  const Cluster& cluster() const { return cluster_; }  // that the strategies are for

 protected:
  explicit Evaluator(const Cluster& cluster) : cluster_(cluster) {}  // must outlive it

 private:
  const Cluster& cluster_;
};

// Asks about other strategies than it is asked about. `inner` must outlive it.
class ChangingEvaluator final : public Evaluator {
 public:
  using Change = std::function<CompleteStrategy(const CompleteStrategy&)>;
  ChangingEvaluator(Evaluator& inner, Change change)
      : Evaluator(inner.cluster()), inner_(inner), change_(std::move(change)) {}
  std::vector<Score> score(std::span<const CompleteStrategy> strategies) override {
    std::vector<CompleteStrategy> changed;
    changed.reserve(strategies.size());
    for (const CompleteStrategy& strategy : strategies) changed.push_back(change_(strategy));
    return inner_.score(changed);
  }

 private:
  Evaluator& inner_;
  const Change change_;
};

// The place of the best score, the first of equals; their number when there are none.
inline std::size_t best_of(std::span<const Score> scores) {
  const auto best = std::ranges::min_element(
      scores, [](const Score& a, const Score& b) { return a.better_than(b); });
  return static_cast<std::size_t>(best - scores.begin());
}

}  // namespace strato
