// Evaluators: the one that lowers and simulates, and what stands in front of it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/search/api/evaluator.h"

namespace strato {

// Lowers and simulates on `threads` threads (0: one per core).
std::unique_ptr<Evaluator> make_simulating_evaluator(const Problem& problem, int threads,
                                                     bool with_feedback = false);

// Counts the strategies that are asked about. `inner` must outlive it.
class CountingEvaluator final : public Evaluator {
 public:
  explicit CountingEvaluator(Evaluator& inner) : Evaluator(inner.cluster()), inner_(inner) {}
  std::vector<Score> score(std::span<const CompleteStrategy> strategies) override {
    count_ += static_cast<std::int64_t>(strategies.size());
    return inner_.score(strategies);
  }
  std::int64_t count() const { return count_; }

 private:
  Evaluator& inner_;
  std::int64_t count_ = 0;
};

// Remembers scores by the strategies' digests. `inner` must outlive it.
std::unique_ptr<Evaluator> make_caching_evaluator(Evaluator& inner);

}  // namespace strato
