// The inside of a group: scopes and ops, and what is around them.
#pragma once

#include "views/graph/graph_content.h"

namespace strato {

// Of a level with ops; see content_of. Without equal blocks, and with all edges.
GraphContent content_of_ops(const Problem& problem, const GraphLevel& level,
                            const std::vector<Nanos>& op_times, std::size_t most);

}  // namespace strato
