#include "core/schedule/dag/levels.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "core/base/error.h"

namespace strato {
namespace {

template <class OfNode, class OfEdge>
Weights weights_of(const Dag& dag, OfNode of_node, OfEdge of_edge) {
  Weights weights;
  for (const NodeIndex node : dag.nodes()) weights.node.push_back(of_node(node));
  for (const std::int32_t edge : dag.edges()) weights.edge.push_back(of_edge(edge));
  return weights;
}

void check(const Dag& dag, const Weights& weights) {
  CHECK(weights.node.size() == dag.size() && weights.edge.size() == dag.edge_count(),
        "weights of another dag");
}

// Kahn's algorithm; `released` puts the successors that wait for nothing any more, which are given
// ascending, among the ready ones.
template <class Next, class Released>
std::vector<NodeIndex> topological(const Dag& dag, Next next, Released released) {
  std::vector<std::size_t> missing;
  for (const NodeIndex node : dag.nodes()) missing.push_back(dag.predecessors(node).size());
  std::vector<NodeIndex> order, free;
  order.reserve(dag.size());
  while (order.size() < dag.size()) {
    order.push_back(next());
    free.clear();
    for (const DagEdge& edge : dag.successors(order.back()))
      if (--missing[at(edge.node)] == 0) free.push_back(edge.node);
    released(free);
  }
  return order;
}

std::vector<NodeIndex> sources(const Dag& dag) {
  std::vector<NodeIndex> result;
  for (const NodeIndex node : dag.nodes())
    if (dag.predecessors(node).empty()) result.push_back(node);
  return result;
}

// The ready nodes as a stack; `worst_first` sorts what goes onto it.
template <class Sort>
std::vector<NodeIndex> depth_first(const Dag& dag, Sort worst_first) {
  std::vector<NodeIndex> stack = sources(dag);
  worst_first(stack);
  const auto next = [&] {
    const NodeIndex node = stack.back();
    stack.pop_back();
    return node;
  };
  return topological(dag, next, [&](std::vector<NodeIndex>& free) {
    worst_first(free);
    stack.insert(stack.end(), free.begin(), free.end());
  });
}

}  // namespace

Weights longest_weights(const Dag& dag, const TransferTimes& transfers) {
  const auto longest = [&](NodeIndex node) {
    Nanos time;
    for (std::size_t t = 0; t < dag.gpu_type_count(); ++t)
      time = std::max(time, dag.time(node, GpuTypeId(t)));
    return time;
  };
  return weights_of(dag, longest, [&](std::int32_t edge) { return transfers.longest(edge); });
}

Weights mean_weights(const Dag& dag, const Cluster& cluster, const TransferTimes& transfers) {
  CHECK(dag.gpu_type_count() == cluster.gpu_types().size(), "times for each GPU type");
  std::vector<std::int64_t> devices(dag.gpu_type_count(), 0);
  for (const Device& device : cluster.devices()) ++devices[device.type.index()];
  const auto mean = [&](NodeIndex node) {
    __int128 sum = 0;
    for (std::size_t t = 0; t < devices.size(); ++t)
      sum += static_cast<__int128>(dag.time(node, GpuTypeId(t)).value) * devices[t];
    return Nanos(static_cast<std::int64_t>(sum / static_cast<__int128>(cluster.device_count())));
  };
  return weights_of(dag, mean, [&](std::int32_t edge) { return transfers.mean(edge); });
}

std::vector<Nanos> t_levels(const Dag& dag, const Weights& weights) {
  check(dag, weights);
  std::vector<Nanos> levels(dag.size());
  for (const NodeIndex node : dag.nodes())
    for (const DagEdge& edge : dag.predecessors(node))
      levels[at(node)] =
          std::max(levels[at(node)], levels[at(edge.node)] + weights.node[at(edge.node)] +
                                         weights.edge[at(edge.edge)]);
  return levels;
}

std::vector<Nanos> b_levels(const Dag& dag, const Weights& weights) {
  check(dag, weights);
  std::vector<Nanos> levels(dag.size());
  for (std::size_t i = dag.size(); i-- > 0;) {
    for (const DagEdge& edge : dag.successors(static_cast<NodeIndex>(i)))
      levels[i] = std::max(levels[i], levels[at(edge.node)] + weights.edge[at(edge.edge)]);
    levels[i] += weights.node[i];
  }
  return levels;
}

double communication_to_computing(const Weights& weights) {
  const auto sum = [](const std::vector<Nanos>& times) {
    return std::accumulate(times.begin(), times.end(), 0.0, [](double sum, Nanos time) {
      return sum + static_cast<double>(time.value);
    });
  };
  const double computing = sum(weights.node);
  return computing > 0 ? sum(weights.edge) / computing : 0;
}

std::vector<NodeIndex> by_level(std::span<const Nanos> levels) {
  std::vector<NodeIndex> order(levels.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, std::greater(), [&](NodeIndex node) { return levels[at(node)]; });
  return order;
}

std::vector<NodeIndex> critical_path(const Dag& dag, std::span<const Nanos> b_levels) {
  CHECK(b_levels.size() == dag.size(), "levels of another dag");
  if (dag.size() == 0) return {};
  const auto level = [&](NodeIndex node) { return b_levels[at(node)]; };
  const auto level_at = [&](const DagEdge& edge) { return level(edge.node); };
  const std::vector<NodeIndex> entries = sources(dag);  // max_element: the first of the largest
  std::vector<NodeIndex> path = {*std::ranges::max_element(entries, {}, level)};
  while (!dag.successors(path.back()).empty())
    path.push_back(std::ranges::max_element(dag.successors(path.back()), {}, level_at)->node);
  return path;
}

std::vector<NodeIndex> m_topo(const Dag& dag) {
  std::vector<NodeIndex> queue = sources(dag);
  queue.reserve(dag.size());
  std::size_t head = 0;
  return topological(
      dag, [&] { return queue[head++]; },
      [&](const std::vector<NodeIndex>& free) {
        queue.insert(queue.end(), free.begin(), free.end());
      });
}

std::vector<NodeIndex> dfs_topo(const Dag& dag) {
  return depth_first(dag, [](std::vector<NodeIndex>& nodes) { std::ranges::reverse(nodes); });
}

// Algorithm 1, CPD_Topo: the longest path through a node decides.
std::vector<NodeIndex> cpd_topo(const Dag& dag, const Weights& weights) {
  std::vector<Nanos> through = t_levels(dag, weights);
  const std::vector<Nanos> below = b_levels(dag, weights);
  for (std::size_t i = 0; i < through.size(); ++i) through[i] += below[i];
  return depth_first(dag, [&](std::vector<NodeIndex>& nodes) {
    std::ranges::sort(nodes, [&](NodeIndex a, NodeIndex b) {
      return through[at(a)] != through[at(b)] ? through[at(a)] < through[at(b)] : a > b;
    });
  });
}

}  // namespace strato
