#include "core/program/rank/upward_ranks.h"

#include <algorithm>

namespace strato {
namespace {

// Consumers have larger ids than producers, so walking back meets them first.
void rank_views(const Graph& graph, IdVector<OpId, Nanos>& ranks) {
  for (std::size_t i = graph.op_count(); i-- > 0;) {
    if (ranks[OpId(i)] > Nanos(0)) continue;
    for (const TensorId output : graph.op(OpId(i)).outputs)
      for (const OpId consumer : graph.consumers(output))
        ranks[OpId(i)] = std::max(ranks[OpId(i)], ranks[consumer]);
  }
}

}  // namespace

IdVector<TaskId, Nanos> upward_ranks(const Program& program) {
  IdVector<TaskId, Nanos> ranks(program.tasks.size());
  for (std::size_t i = program.tasks.size(); i-- > 0;) {
    Nanos& rank = ranks[TaskId(i)];  // so far of what follows: dependents have larger ids
    rank += program.tasks[TaskId(i)].duration;
    for (const TaskId dependency : program.dependencies[i])
      ranks[dependency] = std::max(ranks[dependency], rank);
  }
  return ranks;
}

std::vector<std::int32_t> upward_rank_priorities(const Program& program) {
  const Graph& graph = *program.graph;
  const IdVector<TaskId, Nanos> ranks = upward_ranks(program);
  IdVector<OpId, Nanos> of_op(graph.op_count());
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const Task& task = program.tasks[TaskId(i)];
    if (task.kind == TaskKind::Compute || task.kind == TaskKind::Update)
      of_op[task.op] = std::max(of_op[task.op], ranks[TaskId(i)]);
  }
  rank_views(graph, of_op);
  std::vector<OpId> order;
  for (std::size_t i = 0; i < graph.op_count(); ++i) order.push_back(OpId(i));
  std::stable_sort(order.begin(), order.end(), [&](OpId a, OpId b) { return of_op[a] > of_op[b]; });
  std::vector<std::int32_t> priorities(order.size());
  for (std::size_t i = 0; i < order.size(); ++i)
    priorities[order[i].index()] = static_cast<std::int32_t>(i);
  return priorities;
}

}  // namespace strato
