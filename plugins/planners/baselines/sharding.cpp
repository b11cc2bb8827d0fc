#include "plugins/planners/baselines/sharding.h"

#include "core/search/evaluate/baselines.h"

namespace strato {

ParameterBytes shard_updates(const Problem& problem, Strategy& strategy, Bytes smallest) {
  const Graph& graph = *problem.graph;
  const Problem own = problem_for(problem, strategy);
  ParameterBytes bytes;
  for (const OpId op : graph.ops().ids()) {
    if (graph.op(op).phase != Phase::Update || graph.op(op).inputs.empty()) continue;
    const Bytes parameter = graph.tensor(graph.op(op).inputs.front()).bytes();
    bytes.all += parameter;
    const Decision& decision = *strategy.groups[own.grouping->group_of(op)];
    if (parameter < smallest || decision.mode != Mode::ReplicateAllReduce ||
        columns_of(decision) > 1)
      continue;
    const std::optional<OpSplit> split = sharded_update(graph, op, replicas_of(graph, decision));
    if (!split) continue;
    strategy.splits.push_back(*split);
    bytes.parts += parameter;
  }
  return bytes;
}

}  // namespace strato
