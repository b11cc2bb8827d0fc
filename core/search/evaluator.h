// An evaluator scores strategies: the only way in which a planner sees the simulator. It takes
// batches, so that several threads (or a remote service) can work on them; caching, counting and
// recording are decorators.
#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <vector>

#include "core/search/problem.h"
#include "core/sim/simulate.h"
#include "core/strategy/strategy.h"

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
  virtual std::vector<Score> evaluate(std::span<const Strategy> strategies) = 0;
  Score evaluate(const Strategy& strategy) { return evaluate(std::span(&strategy, 1))[0]; }
};

// Lowers and simulates on `threads` threads (0: one per core).
std::unique_ptr<Evaluator> make_simulating_evaluator(const Problem& problem, int threads,
                                                     bool with_feedback = false);

// Remembers scores by strategy digest (of the completed strategy). `inner` must outlive it.
std::unique_ptr<Evaluator> make_caching_evaluator(Evaluator& inner, const Cluster& cluster);

// Everything about one strategy, for a person or an export.
struct Outcome {
  std::shared_ptr<const Program> program;
  std::shared_ptr<const Timeline> timeline;
  Score score;
};
Outcome simulate_strategy(const Problem& problem, const Strategy& strategy,
                          bool with_feedback = true, const SimulateOptions& options = {});

// No strategy of this problem can be faster (proof in the .cpp's header comment).
Nanos lower_bound(const Problem& problem);

}  // namespace strato
