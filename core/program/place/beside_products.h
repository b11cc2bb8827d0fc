// The products of matrices beside a tensor: what columns exchange between them may go in pieces
// (MeshRoles::pieces). Pure.
#pragma once

#include <vector>

#include "core/graph/value/graph.h"

namespace strato {

// Those that read it, as it is or through views.
std::vector<OpId> products_reading(const Graph& graph, TensorId tensor);
// The one that made it, or those of whose results it is a sum, a cast or a view.
std::vector<OpId> products_making(const Graph& graph, TensorId tensor);

}  // namespace strato
