#include "plugins/planners/baselines/sharding.h"

#include "core/graph/axes/split_axes.h"

namespace strato {

SharedParameters shared_parameters(const Problem& problem, const Strategy& strategy) {
  const Graph& graph = *problem.graph;
  const Problem own = problem_for(problem, strategy);
  SharedParameters found;
  for (const OpId op : graph.ops().ids()) {
    if (graph.op(op).phase != Phase::Update || graph.op(op).inputs.empty()) continue;
    const Bytes bytes = graph.tensor(graph.op(op).inputs.front()).bytes();
    found.all += bytes;
    const Decision& decision = *strategy.groups[own.grouping->group_of(op)];
    if (state_rows_of(decision) == 1 || bytes < decision.roles.states.smallest ||
        split_axes(graph, op).empty())
      continue;
    ++found.count;
    found.parts += bytes;
  }
  return found;
}

}  // namespace strato
