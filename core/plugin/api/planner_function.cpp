#include "core/plugin/api/planner_function.h"

namespace strato {

PlanResult best_of(const PlanRequest& request, std::vector<Strategy> strategies) {
  const std::vector<Score> scores = request.evaluator.evaluate(strategies);
  const std::size_t best = best_of(scores);
  PlanResult result;
  result.strategy = std::move(strategies[best]);
  result.score = scores[best];
  result.evaluations = std::ssize(scores);
  request.observer.on_improvement(result.strategy, result.score,
                                  {result.evaluations, result.evaluations, 0, result.score});
  return result;
}

}  // namespace strato
