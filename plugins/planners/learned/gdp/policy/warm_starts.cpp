#include "plugins/planners/learned/gdp/policy/warm_starts.h"

namespace strato::gdp {

WarmStarts::WarmStarts(const Problem& problem, PlacementTask& task, Evaluator& evaluator,
                       const std::vector<Strategy>& known) {
  std::vector<Placement> placements;
  for (const Strategy& given : known) {
    const Strategy strategy = complete(given, *problem.cluster);
    if (auto placement = task.placement_of(strategy)) placements.push_back(*std::move(placement));
    const Score score = evaluator.evaluate(strategy);
    if (best_ && !score.better_than(score_)) continue;
    best_ = strategy;
    score_ = score;
  }
  if (!placements.empty()) task.evaluate(placements);
}

PlanResult WarmStarts::result_of(const PlacementTask& task) const {
  PlanResult result;
  const bool start = best_ && score_.better_than(*task.best_score());
  result.strategy = start ? *best_ : task.best_strategy();
  result.score = start ? score_ : *task.best_score();
  result.evaluations = task.evaluations();
  return result;
}

}  // namespace strato::gdp
