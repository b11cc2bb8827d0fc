// The best strategy so far, whoever found it, and how it came about.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/search/api/planner.h"

namespace strato::portfolio {

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

class Leader {
 public:
  struct Step {
    std::string who;
    Score score;
  };

  // Takes a strategy that is better than all before; false: it is not.
  bool offer(const std::string& who, const Strategy& strategy, const Score& score) {
    if (score_ && !score.better_than(*score_)) return false;
    strategy_ = strategy;
    score_ = score;
    if (steps_.empty() || steps_.back().who != who) steps_.push_back({who, score});
    steps_.back().score = score;
    return true;
  }
  bool exists() const { return score_.has_value(); }
  const Strategy& strategy() const { return strategy_; }
  const Score& score() const { return *score_; }
  const std::vector<Step>& steps() const { return steps_; }  // one for several in a row by one

 private:
  Strategy strategy_;
  std::optional<Score> score_;
  std::vector<Step> steps_;
};

}  // namespace strato::portfolio
