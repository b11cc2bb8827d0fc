#include "plugins/planners/baselines/sharding.h"

#include "core/graph/axes/split_axes.h"
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
    if (parameter < smallest || decision.mode != Mode::ReplicateAllReduce) continue;
    // The rows of a mesh share it along any axis that they divide.
    std::optional<OpSplit> split;
    if (columns_of(decision) == 1)
      split = sharded_update(graph, op, replicas_of(graph, decision));
    else if (const auto axes = split_axes(graph, op); !axes.empty())
      split = {op, axes.front().axis, decision.devices};
    if (!split) continue;
    strategy.splits.push_back(*split);
    bytes.parts += parameter;
  }
  return bytes;
}

}  // namespace strato
