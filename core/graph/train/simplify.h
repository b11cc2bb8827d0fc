// Simplifies the graph that a file holds to the one that is planned (TAG 4.1.1).
#pragma once

#include <span>

#include "core/graph/value/graph.h"

namespace strato {

// TAG 4.1.1: removes Identity and NoOp, Dropout when `inference`, and dangling ops (those whose
// outputs reach neither a graph output nor an update). `outputs` are tensors to keep; empty: all
// floating-point tensors that nothing consumes.
Graph simplify(const Graph& graph, bool inference, std::span<const TensorId> outputs = {});

}  // namespace strato
