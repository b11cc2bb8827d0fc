#include "views/models/simulation.h"

#include "core/program/lower/lower.h"
#include "core/program/rank/upward_ranks.h"
#include "core/search/evaluate/outcome.h"

namespace strato {

Strategy ordered(const Problem& given, const Strategy& strategy, const Simulation& simulation) {
  if (simulation.order == TaskOrder::Fifo || !strategy.priorities.empty()) return strategy;
  const Problem problem = problem_for(given, strategy);
  Lowering lowering(problem.graph, problem.grouping, problem.cluster, problem.cost);
  Strategy result = strategy;
  result.priorities = upward_rank_priorities(lowering.lower(strategy));
  return result;
}

Outcome simulate_as(const Problem& problem, const Strategy& strategy,
                    const Simulation& simulation) {
  SimulateOptions options;
  options.priorities = simulation.order == TaskOrder::Priority;
  options.fair_links = simulation.fair_links;
  return simulate_outline(problem, ordered(problem, strategy, simulation), true, options);
}

}  // namespace strato
