// METIS behind a few functions: balanced parts of a weighted graph with little weight on cut edges,
// and groups of ops made so (TAG 4.1.1). Thread-safe, no state; the same parts for the same input.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/units.h"
#include "core/graph/group/grouping.h"
#include "core/graph/value/graph.h"

namespace strato {

struct WeightedEdge {
  std::int32_t a, b;    // different vertices
  std::int64_t weight;  // positive; several edges between two vertices add up
};

// Part of each vertex, in [0, parts); parts may be empty. `balance`: heaviest part over the mean,
// as far as single vertices allow. Recursive bisection, so that METIS never meets more parts than
// vertices (it prints when it does).
std::vector<std::int32_t> partition(std::span<const std::int64_t> vertex_weights,
                                    std::span<const WeightedEdge> edges, int parts, double balance);

// The same into shares.size() parts with weights in proportion to `shares` (above zero): first
// those of the first half of the shares from the rest, and so on.
std::vector<std::int32_t> partition_by_shares(std::span<const std::int64_t> vertex_weights,
                                              std::span<const WeightedEdge> edges,
                                              std::span<const double> shares, double balance);

struct MetisOptions {
  int max_groups = 60;
  double balance = 2.0;  // largest group's compute time over the mean (METIS ubfactor)
};

// A k-way partition minimising tensor bytes on cut edges with compute time as balance (TAG 4.1.1).
// A forward op, its gradient ops and the updates of its parameters are in one group, so that saved
// activations and parameters never cross a group boundary.
Grouping group_by_metis(const Graph& graph, std::span<const Nanos> op_time,
                        const MetisOptions& options);

// Splits `ops` (ascending) into at most `parts` parts the same way: result[i] is the part of
// ops[i]. Used for the model-parallel option inside a group. Update ops follow the gradient's
// forward op.
std::vector<std::int32_t> partition_ops(const Graph& graph, std::span<const OpId> ops,
                                        std::span<const Nanos> op_time, int parts);

}  // namespace strato
