#include "core/search/api/evaluator.h"

namespace strato {

bool Score::better_than(const Score& other) const {
  if (feasible != other.feasible) return feasible;
  if (!feasible && overflow != other.overflow) return overflow < other.overflow;
  return step_time < other.step_time;
}

std::vector<Score> Evaluator::evaluate(std::span<const Strategy> strategies) {
  std::vector<CompleteStrategy> whole;
  whole.reserve(strategies.size());
  for (const Strategy& strategy : strategies) whole.emplace_back(strategy, cluster_);
  return score(whole);
}

}  // namespace strato
