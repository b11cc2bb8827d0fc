#include "plugins/planners/search/exact/coarsen.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/base/error.h"
#include "core/schedule/dag/dag_of.h"
#include "core/schedule/dag/transfer_times.h"
#include "plugins/planners/search/exact/contract_blocks.h"

namespace strato::exact {
namespace {

bool is_forward(const Op& op) { return op.phase == Phase::Forward || op.phase == Phase::Loss; }

// The forward op that an op belongs to; of a backward op without one, that of a producer.
std::vector<OpId> forward_ops(const Graph& graph) {
  std::vector<OpId> result;
  for (std::size_t i = 0; i < graph.op_count(); ++i) {
    const Op& op = graph.op(OpId(i));
    OpId forward(i);
    if (!is_forward(op)) {
      if (op.forward.valid() && op.forward.index() < i) {
        forward = result[op.forward.index()];
      } else {
        for (const TensorId input : op.inputs)
          if (input.valid() && graph.tensor(input).producer.valid())
            forward = result[graph.tensor(input).producer.index()];
      }
    }
    result.push_back(forward);
  }
  return result;
}

// Blocks of forward ops, by op; of another op, that of its forward op.
std::vector<std::int32_t> blocks_of(const Problem& problem, std::size_t parts) {
  const Graph& graph = *problem.graph;
  const std::vector<OpId> forward = forward_ops(graph);
  std::vector<std::int32_t> vertex(graph.op_count(), -1);
  std::int32_t count = 0;
  for (std::size_t i = 0; i < graph.op_count(); ++i)
    if (forward[i] == OpId(i)) vertex[i] = count++;
  for (std::size_t i = 0; i < graph.op_count(); ++i) vertex[i] = vertex[forward[i].index()];
  const std::vector<Nanos> times = mean_op_times(graph, *problem.cluster, *problem.cost);
  std::vector<double> weights(static_cast<std::size_t>(count), 0);
  for (std::size_t i = 0; i < graph.op_count(); ++i)
    weights[static_cast<std::size_t>(vertex[i])] += static_cast<double>(times[i].value);
  const Dag dag = dag_of(problem);
  const TransferTimes transfers(dag, *problem.cluster, *problem.cost);
  std::vector<BlockEdge> edges;
  for (std::size_t i = 0; i < graph.op_count(); ++i) {
    if (forward[i] != OpId(i)) continue;
    for (const DagEdge& edge : dag.successors(static_cast<NodeIndex>(i)))
      if (forward[static_cast<std::size_t>(edge.node)].index() ==
          static_cast<std::size_t>(edge.node))
        edges.push_back({vertex[i], vertex[static_cast<std::size_t>(edge.node)],
                         static_cast<double>(transfers.mean(edge.edge).value)});
  }
  const std::vector<std::int32_t> block = contract_blocks(std::move(weights), edges, parts);
  std::vector<std::int32_t> result;
  for (const std::int32_t v : vertex) result.push_back(block[static_cast<std::size_t>(v)]);
  return result;
}

}  // namespace

Coarse coarsen(const Problem& problem, std::size_t nodes) {
  const Graph& graph = *problem.graph;
  Dag ops = dag_of(problem);
  Coarse coarse;
  coarse.node_of.resize(graph.op_count());
  if (graph.op_count() <= nodes) {
    std::iota(coarse.node_of.begin(), coarse.node_of.end(), 0);
    coarse.dag = std::move(ops);
    return coarse;
  }
  const bool backward =
      std::ranges::any_of(graph.ops(), [](const Op& op) { return !is_forward(op); });
  const std::size_t parts = std::max<std::size_t>(1, backward ? nodes / 2 : nodes);
  const std::vector<std::int32_t> block = blocks_of(problem, parts);
  const std::int32_t blocks = 1 + *std::ranges::max_element(block);
  std::vector<std::int32_t> used(2 * static_cast<std::size_t>(blocks), 0);
  for (std::size_t i = 0; i < block.size(); ++i) {
    std::int32_t rank = is_forward(graph.op(OpId(i))) ? block[i] : 2 * blocks - 1 - block[i];
    // An op that reads something from behind its block goes there: edges never descend.
    for (const DagEdge& edge : ops.predecessors(static_cast<NodeIndex>(i)))
      rank = std::max(rank, coarse.node_of[static_cast<std::size_t>(edge.node)]);
    coarse.node_of[i] = rank;
    used[static_cast<std::size_t>(rank)] = 1;
  }
  std::vector<std::int32_t> number(used.size(), 0);
  std::exclusive_scan(used.begin(), used.end(), number.begin(), 0);
  for (NodeIndex& node : coarse.node_of) node = number[static_cast<std::size_t>(node)];
  coarse.dag = contract(ops, coarse.node_of);
  return coarse;
}

}  // namespace strato::exact
