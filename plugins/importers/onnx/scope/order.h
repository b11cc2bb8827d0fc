// A topological order of nodes. Include in .cpp files only.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "plugins/importers/onnx/read/node_view.h"

namespace strato::onnx_import {

// Tells whether a tensor is made elsewhere: an input, an initializer, in the enclosing graph.
using IsAvailable = std::function<bool(const std::string&)>;

// Stable: file order among the nodes that are ready. Throws InputError for a tensor with two
// producers or none, and for a cycle.
std::vector<const onnx::NodeProto*> in_order(const Nodes& nodes, const IsAvailable& available,
                                             const std::string& file);

}  // namespace strato::onnx_import
