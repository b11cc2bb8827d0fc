// What leads to some ops, and what they lead to. Pure.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "views/graph/graph_content.h"

namespace strato {

enum class TraceWay { Inputs, Outputs };

// Everything that the ops need, or that needs them, themselves included, as a mark per op. From ops
// of the forward pass the trace keeps to it: through its gradients, everything leads to everything.
std::vector<char> trace(const Graph& graph, std::span<const OpId> from, TraceWay way);

// The nodes with a traced op; the boundary as far as it is reached.
std::vector<char> traced_nodes(const GraphContent& content, const Grouping& grouping,
                               const std::vector<char>& traced);

}  // namespace strato
