// What leads to some ops, and what they lead to; a path through them. Pure.
#pragma once

#include <span>
#include <vector>

#include "views/graph/graph_content.h"

namespace strato {

enum class TraceWay { Inputs, Outputs };

// Everything that the ops need, or that needs them, themselves included, as a mark per op. From ops
// of the forward pass the trace keeps to it: through its gradients, everything leads to everything.
std::vector<char> traced_ops(const Graph& graph, std::span<const OpId> from, TraceWay way);

// The nodes with a traced op; the boundary as far as it is reached.
std::vector<char> traced_nodes(const GraphContent& content, const Grouping& grouping,
                               const std::vector<char>& traced);

// What of the drawn graph is on a path of ops: its nodes, and the edges that it takes.
struct PathMarks {
  std::vector<char> nodes, edges;
};
PathMarks path_marks(const GraphContent& content, const Problem& problem,
                     std::span<const OpId> path);

}  // namespace strato
