// Nodes whose results are known while the file is read: constants, questions about shapes, weights
// that are made or handed on, and whatever folds. No op of the graph is left of them. Include in
// .cpp files only.
#pragma once

#include <onnx/onnx_pb.h>

#include "plugins/importers/onnx/scope/scope.h"

namespace strato::onnx_import {

// Both are for nodes of ONNX's own op set.
// Adds a constant, a weight or what is asked about a shape; false: the node is none of them. Throws
// InputError about a constant that is none.
bool add_known(Scope& scope, const onnx::NodeProto& node, const Entries& inputs);
// Adds what the node makes of known inputs; false: not all are known, or it does not fold.
bool add_folded(Scope& scope, const onnx::NodeProto& node, const Entries& inputs);

}  // namespace strato::onnx_import
