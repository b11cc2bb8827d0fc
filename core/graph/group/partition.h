// METIS behind one function: a weighted graph into balanced parts with little weight on cut edges.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace strato {

struct WeightedEdge {
  std::int32_t a, b;    // different vertices
  std::int64_t weight;  // positive; several edges between two vertices add up
};

// Part of each vertex, in [0, parts); parts may be empty. Deterministic. `balance`: heaviest part
// over the mean, as far as single vertices allow. Recursive bisection, so that METIS never meets
// more parts than vertices (it prints when it does).
std::vector<std::int32_t> partition(std::span<const std::int64_t> vertex_weights,
                                    std::span<const WeightedEdge> edges, int parts, double balance);

// The same into shares.size() parts with weights in proportion to `shares` (above zero): first
// those of the first half of the shares from the rest, and so on.
std::vector<std::int32_t> partition_by_shares(std::span<const std::int64_t> vertex_weights,
                                              std::span<const WeightedEdge> edges,
                                              std::span<const double> shares, double balance);

}  // namespace strato
