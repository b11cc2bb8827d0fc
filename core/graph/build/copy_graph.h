// Starting a new graph from an old one.
#pragma once

#include <vector>

#include "core/graph/build/graph_builder.h"
#include "core/graph/value/graph.h"

namespace strato {

// All tensors of `graph`, with their ids, in a builder without ops. Layouts of what ops make are
// found anew.
GraphBuilder builder_with_tensors(const Graph& graph);

// Returns the tensors that the graph is there for: floating-point tensors of the forward part that
// nothing reads and that are no by-products (masks, statistics). In a graph that ends in integers
// (an ArgMax) they are those that the integers are made of.
std::vector<TensorId> results_of(const Graph& graph);

}  // namespace strato
