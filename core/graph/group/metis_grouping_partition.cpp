#include <metis.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <mutex>
#include <numeric>
#include <utility>

#include "core/base/at.h"
#include "core/base/error.h"
#include "core/graph/group/metis_grouping.h"

namespace strato {
namespace {

constexpr double weight_sum_limit = 1 << 30;  // idx_t has 32 bits, and METIS adds weights up

// Factor that brings a sum of weights below the limit.
double scale_for(double sum) { return sum > weight_sum_limit ? weight_sum_limit / sum : 1.0; }

idx_t scaled(std::int64_t weight, double scale) {
  return std::max<idx_t>(1, static_cast<idx_t>(static_cast<double>(weight) * scale));
}

// Neighbours in compressed rows, edges in both directions, parallel edges merged.
struct Adjacency {
  std::vector<idx_t> begin = {0}, neighbour, weight;
};

Adjacency adjacency_of(std::size_t vertices, std::span<const WeightedEdge> edges) {
  std::vector<WeightedEdge> both;  // from a to b
  both.reserve(2 * edges.size());
  double sum = 0;
  for (const WeightedEdge& edge : edges) {
    both.push_back(edge);
    both.push_back({edge.b, edge.a, edge.weight});
    sum += 2.0 * static_cast<double>(edge.weight);
  }
  std::ranges::sort(both, {}, [](const WeightedEdge& edge) { return std::pair(edge.a, edge.b); });
  Adjacency result;
  auto next = both.begin();
  for (std::int32_t vertex = 0; at(vertex) < vertices; ++vertex) {
    while (next != both.end() && next->a == vertex) {
      const std::int32_t to = next->b;
      std::int64_t weight = 0;
      for (; next != both.end() && next->a == vertex && next->b == to; ++next)
        weight += next->weight;
      result.neighbour.push_back(to);
      result.weight.push_back(scaled(weight, scale_for(sum)));
    }
    result.begin.push_back(static_cast<idx_t>(result.neighbour.size()));
  }
  return result;
}

// METIS keeps its random state in C's rand() and sets signal handlers while it runs: one call at a
// time.
std::mutex& metis_mutex() {
  static std::mutex mutex;
  return mutex;
}

class Partitioner {
 public:
  Partitioner(std::span<const std::int64_t> weights, std::span<const WeightedEdge> edges, int parts,
              double balance)
      : graph_(adjacency_of(weights.size(), edges)), result_(weights.size(), 0) {
    double sum = 0;
    for (const std::int64_t weight : weights) sum += static_cast<double>(weight);
    for (const std::int64_t weight : weights) weights_.push_back(scaled(weight, scale_for(sum)));
    // The imbalances of the levels multiply.
    const double levels = std::max(1.0, std::ceil(std::log2(std::max(2, parts))));
    tolerance_ = static_cast<real_t>(std::clamp(std::pow(balance, 1 / levels), 1.01, 1.3));
    local_.assign(weights.size(), -1);
  }

  std::vector<std::int32_t> run(int parts) {
    split(all(), parts);
    return std::move(result_);
  }

  std::vector<std::int32_t> run(std::span<const double> shares) {
    divide(all(), 0, shares);
    return std::move(result_);
  }

 private:
  using Vertices = std::vector<idx_t>;

  Vertices all() const {
    Vertices vertices(weights_.size());
    std::iota(vertices.begin(), vertices.end(), 0);
    return vertices;
  }

  // Two sides at a time: METIS itself, asked for many parts, prints a complaint on standard output
  // where a side has no vertices left.
  void divide(const Vertices& vertices, std::int32_t first, std::span<const double> shares) {
    if (shares.size() == 1 || vertices.empty()) return put(vertices, first);
    const auto left = shares.first(shares.size() / 2), right = shares.subspan(left.size());
    const double sum_left = std::accumulate(left.begin(), left.end(), 0.0);
    const double sum_right = std::accumulate(right.begin(), right.end(), 0.0);
    const auto sides = sides_of(vertices, static_cast<real_t>(sum_left / (sum_left + sum_right)));
    divide(sides[0], first, left);
    divide(sides[1], first + static_cast<std::int32_t>(left.size()), right);
  }

  // Numbers parts from next_part_ on. Depth: at most `parts`.
  void split(const Vertices& vertices, int parts) {
    if (parts <= 1 || vertices.size() <= 1) return put(vertices, next_part_++);
    const int half = parts / 2;
    const auto sides = sides_of(vertices, static_cast<real_t>(half) / static_cast<real_t>(parts));
    double weight[2] = {0, 0};
    for (const std::size_t side : {0, 1})
      for (const idx_t vertex : sides[side]) weight[side] += weights_[at(vertex)];
    // Parts go where the weight is; a side never gets more than it has vertices.
    const int size_a = static_cast<int>(sides[0].size()),
              size_b = static_cast<int>(sides[1].size());
    int parts_a = static_cast<int>(std::lround(parts * weight[0] / (weight[0] + weight[1])));
    parts_a =
        std::clamp(parts_a, std::max(1, parts - size_b), std::max(1, std::min(parts - 1, size_a)));
    split(sides[0], parts_a);
    split(sides[1], parts - parts_a);
  }

  void put(const Vertices& vertices, std::int32_t part) {
    for (const idx_t vertex : vertices) result_[at(vertex)] = part;
  }

  // Side 0 has a fraction `left` of the weight; of two vertices or more, both sides have some.
  std::array<Vertices, 2> sides_of(const Vertices& vertices, real_t left) {
    std::vector<idx_t> side_of = metis_bisection(vertices, left);
    const auto ones = std::ranges::count(side_of, 1);
    if (ones == 0 || ones == std::ssize(side_of)) side_of = sides_by_weight(vertices, left);
    std::array<Vertices, 2> sides;
    for (std::size_t i = 0; i < vertices.size(); ++i) sides[at(side_of[i])].push_back(vertices[i]);
    return sides;
  }

  // 0 or 1 for each vertex; all 0 where METIS finds no two sides.
  std::vector<idx_t> metis_bisection(const Vertices& vertices, real_t left) {
    Adjacency part = induced(vertices);
    std::vector<idx_t> side(vertices.size(), 0);
    if (part.neighbour.empty() || vertices.size() < 3) return side;
    std::vector<idx_t> weights;
    for (const idx_t vertex : vertices) weights.push_back(weights_[at(vertex)]);
    idx_t options[METIS_NOPTIONS];
    METIS_SetDefaultOptions(options);
    options[METIS_OPTION_SEED] = 1;
    idx_t count = static_cast<idx_t>(vertices.size()), constraints = 1, two = 2, cut = 0;
    real_t shares[2] = {left, 1 - left};
    const std::lock_guard lock(metis_mutex());
    const int status = METIS_PartGraphRecursive(
        &count, &constraints, part.begin.data(), part.neighbour.data(), weights.data(), nullptr,
        part.weight.data(), &two, shares, &tolerance_, options, &cut, side.data());
    if (status != METIS_OK) std::fill(side.begin(), side.end(), 0);
    return side;
  }

  Adjacency induced(const Vertices& vertices) {
    for (std::size_t i = 0; i < vertices.size(); ++i)
      local_[at(vertices[i])] = static_cast<idx_t>(i);
    Adjacency part;
    for (const idx_t vertex : vertices) {
      for (auto i = at(graph_.begin[at(vertex)]); i < at(graph_.begin[at(vertex) + 1]); ++i) {
        const idx_t to = local_[at(graph_.neighbour[i])];
        if (to < 0) continue;
        part.neighbour.push_back(to);
        part.weight.push_back(graph_.weight[i]);
      }
      part.begin.push_back(static_cast<idx_t>(part.neighbour.size()));
    }
    for (const idx_t vertex : vertices) local_[at(vertex)] = -1;
    return part;
  }

  // Divides vertices by weight where there are no edges, or METIS leaves a side empty: heaviest
  // first, each to the side that is then less full.
  std::vector<idx_t> sides_by_weight(const Vertices& vertices, real_t left) const {
    std::vector<std::size_t> order(vertices.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto weight = [&](std::size_t i) { return weights_[at(vertices[i])]; };
    std::ranges::stable_sort(order, std::greater<>(), weight);
    std::vector<idx_t> side(vertices.size(), 0);
    double load[2] = {0, 0};
    for (const std::size_t i : order) {
      const double with = weight(i);
      side[i] = (load[1] + with) * left < (load[0] + with) * (1 - left) ? 1 : 0;
      load[side[i]] += with;
    }
    return side;
  }

  Adjacency graph_;
  std::vector<idx_t> weights_;
  std::vector<std::int32_t> result_;
  std::vector<idx_t> local_;  // a vertex's number in the part at hand, or -1
  real_t tolerance_ = 1.1F;
  std::int32_t next_part_ = 0;
};

}  // namespace

std::vector<std::int32_t> partition(std::span<const std::int64_t> vertex_weights,
                                    std::span<const WeightedEdge> edges, int parts,
                                    double balance) {
  return Partitioner(vertex_weights, edges, parts, balance).run(parts);
}

std::vector<std::int32_t> partition_by_shares(std::span<const std::int64_t> vertex_weights,
                                              std::span<const WeightedEdge> edges,
                                              std::span<const double> shares, double balance) {
  CHECK(!shares.empty(), "a partition has parts");
  return Partitioner(vertex_weights, edges, static_cast<int>(shares.size()), balance).run(shares);
}

}  // namespace strato
