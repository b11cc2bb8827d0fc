// An evaluator scores strategies: the only way in which a planner sees the simulator. It takes
// batches, so that several threads (or a remote service) can work on them; caching, counting and
// recording are decorators. Planners call evaluate(), which completes and digests a strategy once;
// evaluators implement score() and hand what is complete on to each other.
#pragma once

#include <atomic>
#include <memory>
#include <span>
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
  bool better_than(const Score& other) const;
};

class Evaluator {
 public:
  virtual ~Evaluator() = default;
  // scores[i] belongs to strategies[i]. Deterministic; blocks; one caller at a time.
  std::vector<Score> evaluate(std::span<const Strategy> strategies);
  Score evaluate(const Strategy& strategy) { return evaluate(std::span(&strategy, 1))[0]; }
  virtual std::vector<Score> score(std::span<const CompleteStrategy> strategies) = 0;

  const Cluster& cluster() const { return cluster_; }  // that the strategies are for

 protected:
  explicit Evaluator(const Cluster& cluster) : cluster_(cluster) {}  // must outlive it

 private:
  const Cluster& cluster_;
};

}  // namespace strato
