// Translates ONNX nodes to ops with known shapes: one pass in topological order that folds what is
// constant, inlines functions and decided branches, and infers the shapes of all that remains.
#pragma once

#include "plugins/importers/onnx/scope/scope.h"

namespace strato::onnx_import {

// Adjusts constants that hold the file's batch where the options give another one. Throws
// InputError, also as bind_inputs() does.
Translation translate_model(const Model& model, const ImportOptions& options);

// ---- Nodes of ONNX's own op set whose results are known while the file is read: constants,
// questions about shapes, weights that are made or handed on, and whatever folds. No op of the
// graph is left of them.

// Adds a constant, a weight or what is asked about a shape; false: the node is none of them. Throws
// InputError about a constant that is none.
bool add_known(Scope& scope, const onnx::NodeProto& node, const Entries& inputs);
// Adds what the node makes of known inputs; false: not all are known, or it does not fold.
bool add_folded(Scope& scope, const onnx::NodeProto& node, const Entries& inputs);

}  // namespace strato::onnx_import
