// Builds the graph from translated ops, and before that spreads linear layers. Include in .cpp
// files only.
#pragma once

#include <string>

#include "core/graph/value/graph.h"
#include "plugins/importers/onnx/bind/bind.h"
#include "plugins/importers/onnx/scope/scope.h"

namespace strato::onnx_import {

// Makes a name of the file one of the graph: text that every file and window can show.
std::string graph_name(const std::string& name);

// Keeps what the model's results depend on. Throws InputError when nothing is left, and as
// GraphBuilder does.
Graph build_graph(const Translation& translation, const Binding& binding, const std::string& name,
                  const std::string& file);

// Linear layers that exporters wrap in two Reshapes: [steps, batch, k] -> [steps * batch, k] ->
// Gemm -> [steps * batch, n] -> [steps, batch, n]. In the merged axis the samples are no longer
// outermost, so that nothing behind it could be split by samples. The layer is the same on the axes
// as they are.
//
// Rewrites each such layer to MatMul and Add (with a Transpose of a weight that is stored
// transposed).
void spread_linear_layers(Translation& translation);

}  // namespace strato::onnx_import
