#include "views/models/simulation.h"

#include "core/program/lower.h"
#if __has_include("core/program/ranks.h")
#include "core/program/ranks.h"
#else
namespace strato {
static std::vector<std::int32_t> upward_rank_priorities(const Program& program) {
  std::vector<std::int32_t> r(program.graph->op_count());
  for (std::size_t i = 0; i < r.size(); ++i) r[i] = (int)i;
  return r;
}
}  // namespace strato
#endif

namespace strato {

Strategy ordered(const Problem& problem, const Strategy& strategy, const Simulation& simulation) {
  if (simulation.order == TaskOrder::Fifo || !strategy.priorities.empty()) return strategy;
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
  return simulate_strategy(problem, ordered(problem, strategy, simulation), true, options);
}

}  // namespace strato
