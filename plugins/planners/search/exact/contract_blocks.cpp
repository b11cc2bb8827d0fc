#include "plugins/planners/search/exact/contract_blocks.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <queue>
#include <tuple>
#include <utility>

#include "core/base/error.h"

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
  static std::size_t at(std::int32_t vertex) { return static_cast<std::size_t>(vertex); }

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

// Several edges between two parts stand side by side: they add up later.
std::vector<BlockEdge> edges_between(const std::vector<BlockEdge>& edges,
                                     const std::vector<std::int32_t>& part) {
  std::vector<BlockEdge> result;
  for (const BlockEdge& edge : edges) {
    const std::int32_t from = part[static_cast<std::size_t>(edge.from)];
    const std::int32_t to = part[static_cast<std::size_t>(edge.to)];
    if (from != to) result.push_back({from, to, edge.gain});
  }
  return result;
}

}  // namespace

std::vector<std::int32_t> contract_blocks(std::vector<double> weights,
                                          const std::vector<BlockEdge>& edges, std::size_t parts) {
  parts = std::max<std::size_t>(parts, 1);
  if (weights.size() > std::max(kMostVertices, 2 * parts)) {
    const std::size_t most = std::max(kMostVertices, 2 * parts);
    const std::vector<std::int32_t> part = stretches(weights, most);
    std::vector<double> merged(most, 0);
    for (std::size_t v = 0; v < weights.size(); ++v)
      merged[static_cast<std::size_t>(part[v])] += weights[v];
    const std::vector<std::int32_t> block =
        contract_blocks(std::move(merged), edges_between(edges, part), parts);
    std::vector<std::int32_t> result;
    for (const std::int32_t p : part) result.push_back(block[static_cast<std::size_t>(p)]);
    return result;
  }
  Contraction contraction(std::move(weights), edges);
  while (contraction.size() > parts) contraction.merge_one();
  return contraction.blocks();
}

}  // namespace strato::exact
