#include "plugins/planners/search/exact/coarsen.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <queue>
#include <tuple>
#include <utility>

#include "core/base/at.h"
#include "core/base/error.h"
#include "core/schedule/dag/transfer_times.h"

namespace strato::exact {
namespace {

// More vertices than this are first cut into stretches of a topological order.
constexpr std::size_t kMostVertices = 400;

class Contraction {
 public:
  Contraction(std::vector<double> weights, const std::vector<BlockEdge>& edges)
      : weight_(std::move(weights)), block_of_(weight_.size()), alive_(weight_.size()) {
    std::iota(block_of_.begin(), block_of_.end(), 0);
    successors_.resize(weight_.size());
    predecessors_.resize(weight_.size());
    for (const BlockEdge& edge : edges) {
      CHECK(edge.from < edge.to, "edges ascend");
      successors_[at(edge.from)][edge.to] += edge.gain;
      predecessors_[at(edge.to)][edge.from] += edge.gain;
    }
  }

  std::size_t size() const { return alive_; }

  // The cheapest pair that makes no cycle; there is always one.
  void merge_one() {
    const std::vector<std::int32_t> order = topological();
    std::vector<std::tuple<double, std::int32_t, std::int32_t>> pairs;
    for (const std::int32_t a : order)
      for (const auto& [b, gain] : successors_[at(a)]) {
        const bool chain = successors_[at(a)].size() == 1 && predecessors_[at(b)].size() == 1;
        const double weight = weight_[at(a)] + weight_[at(b)];
        pairs.emplace_back((chain ? 0.5 : 1) * weight - gain, a, b);
      }
    std::ranges::sort(pairs);
    for (const auto& [cost, a, b] : pairs)
      if (!has_way_around(a, b)) return merge(a, b);
    merge_unconnected(order);
  }

  std::vector<std::int32_t> blocks() const {
    std::vector<std::int32_t> number(weight_.size(), -1), result;
    const std::vector<std::int32_t> order = topological();
    for (std::size_t i = 0; i < order.size(); ++i)
      number[at(order[i])] = static_cast<std::int32_t>(i);
    for (const std::int32_t block : block_of_) result.push_back(number[at(block)]);
    return result;
  }

 private:
  std::vector<std::int32_t> topological() const {
    std::priority_queue<std::int32_t, std::vector<std::int32_t>, std::greater<>> ready;
    std::vector<std::size_t> waits_for(weight_.size());
    for (std::size_t v = 0; v < weight_.size(); ++v) {
      waits_for[v] = predecessors_[v].size();
      if (is_alive(v) && waits_for[v] == 0) ready.push(static_cast<std::int32_t>(v));
    }
    std::vector<std::int32_t> order;
    while (!ready.empty()) {
      order.push_back(ready.top());
      ready.pop();
      for (const auto& [next, gain] : successors_[at(order.back())])
        if (--waits_for[at(next)] == 0) ready.push(next);
    }
    CHECK(order.size() == alive_, "no cycle");
    return order;
  }

  bool is_alive(std::size_t vertex) const { return weight_[vertex] >= 0; }

  // No edges are left: the lightest neighbours in a topological order.
  void merge_unconnected(const std::vector<std::int32_t>& order) {
    std::size_t best = 1;
    for (std::size_t i = 2; i < order.size(); ++i)
      if (weight_[at(order[i - 1])] + weight_[at(order[i])] <
          weight_[at(order[best - 1])] + weight_[at(order[best])])
        best = i;
    merge(order[best - 1], order[best]);
  }

  // A path from `from` to `to` beside the edge.
  bool has_way_around(std::int32_t from, std::int32_t to) const {
    std::vector<char> seen(weight_.size(), 0);
    std::vector<std::int32_t> stack;
    for (const auto& [next, gain] : successors_[at(from)])
      if (next != to) stack.push_back(next);
    while (!stack.empty()) {
      const std::int32_t vertex = stack.back();
      stack.pop_back();
      if (vertex == to) return true;
      if (std::exchange(seen[at(vertex)], 1) != 0) continue;
      for (const auto& [next, gain] : successors_[at(vertex)]) stack.push_back(next);
    }
    return false;
  }

  void merge(std::int32_t kept, std::int32_t gone) {
    for (const auto& [next, gain] : successors_[at(gone)]) {
      predecessors_[at(next)].erase(gone);
      successors_[at(kept)][next] += gain;
      predecessors_[at(next)][kept] += gain;
    }
    for (const auto& [before, gain] : predecessors_[at(gone)]) {
      successors_[at(before)].erase(gone);
      if (before == kept) continue;
      successors_[at(before)][kept] += gain;
      predecessors_[at(kept)][before] += gain;
    }
    successors_[at(gone)].clear();
    predecessors_[at(gone)].clear();
    weight_[at(kept)] += weight_[at(gone)];
    weight_[at(gone)] = -1;
    std::ranges::replace(block_of_, gone, kept);
    --alive_;
  }

  std::vector<double> weight_;  // -1: merged into another
  std::vector<std::int32_t> block_of_;
  std::size_t alive_;
  std::vector<std::map<std::int32_t, double>> successors_, predecessors_;
};

// Stretches of the given order (which is topological) with about equal weights.
std::vector<std::int32_t> stretches(const std::vector<double>& weights, std::size_t parts) {
  const double all =
      std::accumulate(weights.begin(), weights.end(), 0.0) + static_cast<double>(weights.size());
  std::vector<std::int32_t> part;
  double before = 0;
  for (const double weight : weights) {
    part.push_back(static_cast<std::int32_t>(before / all * static_cast<double>(parts)));
    before += weight + 1;
  }
  return part;
}

bool is_forward(const Op& op) { return op.phase == Phase::Forward || op.phase == Phase::Loss; }

// The vertices that are contracted: forward ops, each with its gradients and updates. A backward op
// without a forward one goes with a producer, or where there is none it is a vertex itself.
struct Vertices {
  std::vector<std::int32_t> of_op;
  std::vector<NodeIndex> op;  // by vertex: its first
};

Vertices vertices_of(const Graph& graph) {
  Vertices vertices;
  for (std::size_t i = 0; i < graph.op_count(); ++i) {
    const Op& op = graph.op(OpId(i));
    std::int32_t vertex = -1;
    if (!is_forward(op) && op.forward.valid() && op.forward.index() < i) {
      vertex = vertices.of_op[op.forward.index()];
    } else if (!is_forward(op)) {
      for (const TensorId input : op.inputs)
        if (input.valid() && graph.tensor(input).producer.valid())
          vertex = vertices.of_op[graph.tensor(input).producer.index()];
    }
    if (vertex < 0) {
      vertex = static_cast<std::int32_t>(vertices.op.size());
      vertices.op.push_back(static_cast<NodeIndex>(i));
    }
    vertices.of_op.push_back(vertex);
  }
  return vertices;
}

// Blocks of forward ops, by op; of another op, that of its forward op.
std::vector<std::int32_t> blocks_of(const Problem& problem, const Dag& ops, std::size_t parts) {
  const std::vector<Nanos> times = mean_op_times(*problem.graph, *problem.cluster, *problem.cost);
  const TransferTimes transfers(ops, *problem.cluster, *problem.cost);
  Vertices vertices = vertices_of(*problem.graph);
  std::vector<double> weights(vertices.op.size(), 0);
  for (std::size_t i = 0; i < times.size(); ++i)
    weights[at(vertices.of_op[i])] += static_cast<double>(times[i].value);
  std::vector<BlockEdge> edges;
  for (const NodeIndex op : vertices.op)
    for (const DagEdge& edge : ops.successors(op))
      if (const std::int32_t to = vertices.of_op[at(edge.node)]; vertices.op[at(to)] == edge.node)
        edges.push_back(
            {vertices.of_op[at(op)], to, static_cast<double>(transfers.mean(edge.edge).value)});
  const std::vector<std::int32_t> block = contract_blocks(std::move(weights), edges, parts);
  for (std::int32_t& vertex : vertices.of_op) vertex = block[at(vertex)];
  return vertices.of_op;
}

}  // namespace

std::vector<std::int32_t> contract_blocks(std::vector<double> weights,
                                          const std::vector<BlockEdge>& edges, std::size_t parts) {
  parts = std::max<std::size_t>(parts, 1);
  const std::size_t most = std::max(kMostVertices, 2 * parts);
  if (weights.size() > most) {
    const std::vector<std::int32_t> part = stretches(weights, most);
    std::vector<double> merged(most, 0);
    for (std::size_t v = 0; v < weights.size(); ++v) merged[at(part[v])] += weights[v];
    std::vector<BlockEdge> between;  // several of two parts stand side by side: they add up later
    for (const auto& [from, to, gain] : edges)
      if (part[at(from)] != part[at(to)]) between.push_back({part[at(from)], part[at(to)], gain});
    const std::vector<std::int32_t> block = contract_blocks(std::move(merged), between, parts);
    std::vector<std::int32_t> result;
    for (const std::int32_t p : part) result.push_back(block[at(p)]);
    return result;
  }
  Contraction contraction(std::move(weights), edges);
  while (contraction.size() > parts) contraction.merge_one();
  return contraction.blocks();
}

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
  const std::vector<std::int32_t> block = blocks_of(problem, ops, parts);
  const std::int32_t blocks = 1 + *std::ranges::max_element(block);
  std::vector<std::int32_t> used(2 * at(blocks), 0);
  for (std::size_t i = 0; i < block.size(); ++i) {
    std::int32_t rank = is_forward(graph.op(OpId(i))) ? block[i] : 2 * blocks - 1 - block[i];
    // An op that reads something from behind its block goes there: edges never descend.
    for (const DagEdge& edge : ops.predecessors(static_cast<NodeIndex>(i)))
      rank = std::max(rank, coarse.node_of[at(edge.node)]);
    coarse.node_of[i] = rank;
    used[at(rank)] = 1;
  }
  std::vector<std::int32_t> number(used.size(), 0);
  std::exclusive_scan(used.begin(), used.end(), number.begin(), 0);
  for (NodeIndex& node : coarse.node_of) node = number[at(node)];
  coarse.dag = contract(ops, coarse.node_of);
  return coarse;
}

}  // namespace strato::exact
