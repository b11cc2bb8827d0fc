#include "core/graph/group/metis_grouping.h"

#include <algorithm>

#include "core/base/at.h"
#include "core/base/error.h"

namespace strato {
namespace {

// Ops contracted into vertices, each a layer: a forward op, its gradients, its updates.
struct Vertices {
  std::vector<std::int32_t> of_op;  // per op of the graph; -1: not in the set
  std::int32_t count = 0;
};

Vertices contract(const Graph& graph, std::span<const OpId> ops) {
  Vertices vertices;
  vertices.of_op.assign(graph.op_count(), -1);
  // Forward ops come first, so one pass finds each op's final vertex.
  for (const OpId id : ops) {
    const OpId forward = graph.op(id).forward;
    const bool joins = forward.valid() && forward < id && vertices.of_op[forward.index()] >= 0;
    vertices.of_op[id.index()] = joins ? vertices.of_op[forward.index()] : vertices.count++;
  }
  return vertices;
}

// Edges from each tensor's producer to the vertices that read it: the tensor crosses once for each.
std::vector<WeightedEdge> edges_between(const Graph& graph, const Vertices& vertices,
                                        std::span<const OpId> ops) {
  std::vector<WeightedEdge> edges;
  std::vector<std::int32_t> readers;
  for (const OpId id : ops) {
    const std::int32_t from = vertices.of_op[id.index()];
    for (const TensorId output : graph.op(id).outputs) {
      readers.clear();
      for (const OpId reader : graph.consumers(output))
        readers.push_back(vertices.of_op[reader.index()]);
      std::ranges::sort(readers);
      readers.erase(std::unique(readers.begin(), readers.end()), readers.end());
      const std::int64_t bytes = std::max<std::int64_t>(1, graph.tensor(output).bytes().value);
      for (const std::int32_t to : readers)
        if (to >= 0 && to != from) edges.push_back({from, to, bytes});
    }
  }
  return edges;
}

std::vector<std::int32_t> partition_set(const Graph& graph, std::span<const OpId> ops,
                                        std::span<const Nanos> op_time, int parts, double balance) {
  CHECK(op_time.size() == graph.op_count(), "one time per op of the graph");
  const Vertices vertices = contract(graph, ops);
  std::vector<std::int64_t> weights(at(vertices.count), 0);
  for (const OpId id : ops) weights[at(vertices.of_op[id.index()])] += op_time[id.index()].value;
  const std::vector<std::int32_t> part =
      partition(weights, edges_between(graph, vertices, ops), parts, balance);
  std::vector<std::int32_t> result;
  for (const OpId id : ops) result.push_back(part[at(vertices.of_op[id.index()])]);
  return result;
}

}  // namespace

Grouping group_by_metis(const Graph& graph, std::span<const Nanos> op_time,
                        const MetisOptions& options) {
  std::vector<OpId> all;
  for (const OpId id : graph.ops().ids()) all.push_back(id);
  const int most = std::max(1, options.max_groups);
  return Grouping(graph, partition_set(graph, all, op_time, most, options.balance), op_time);
}

std::vector<std::int32_t> partition_ops(const Graph& graph, std::span<const OpId> ops,
                                        std::span<const Nanos> op_time, int parts) {
  // The parts run side by side: unlike groups, they should be equal.
  constexpr double balance = 1.1;
  return partition_set(graph, ops, op_time, parts, balance);
}

}  // namespace strato
