// A node opened where it stands: its parts in a frame, all else moved apart as far as that needs
// and otherwise as it was. Pure; coordinates as in GraphLayout.
#pragma once

#include "views/graph/graph_content.h"

namespace strato {

inline constexpr std::size_t kMostInPlace = 160;  // parts of one node

// What is drawn.
struct DrawnGraph {
  GraphContent content;
  GraphLayout layout;
};

// The parts of a node, laid out by themselves.
struct OpenedPart {
  GraphLevel level;  // what was opened; finds its node again
  DrawnGraph inside;
};

// What a node opens into, without the groups around.
GraphContent parts_of(const Problem& problem, const GraphLevel& level,
                      const std::vector<Nanos>& op_times);

// The node that opens this level, and is not open; -1: none.
int node_for(const GraphContent& content, const GraphLevel& level);

// `graph` with the part in place of its node, which becomes a frame around it. Edges of the node go
// to the parts that they are about. As `graph` was when the node is not there.
DrawnGraph with_part(DrawnGraph graph, const OpenedPart& part, const Problem& problem);

}  // namespace strato
