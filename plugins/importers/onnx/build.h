// Builds the graph from translated ops. Include in .cpp files only.
#pragma once

#include <string>

#include "core/graph/value/graph.h"
#include "plugins/importers/onnx/bind/bind.h"
#include "plugins/importers/onnx/scope/tensors.h"

namespace strato::onnx_import {

// Makes a name of the file one of the graph: text that every file and window can show.
std::string graph_name(const std::string& name);

// Keeps what the model's results depend on. Throws InputError when nothing is left, and as
// GraphBuilder does.
Graph build_graph(const Translation& translation, const Binding& binding, const std::string& name,
                  const std::string& file);

}  // namespace strato::onnx_import
