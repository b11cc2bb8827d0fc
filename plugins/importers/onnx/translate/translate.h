// Translates ONNX nodes to ops with known shapes: one pass in topological order that folds what is
// constant, inlines functions and decided branches, and infers the shapes of all that remains.
// Include in .cpp files only.
#pragma once

#include "plugins/importers/onnx/bind/bind.h"
#include "plugins/importers/onnx/read/read_model.h"
#include "plugins/importers/onnx/scope/scope.h"

namespace strato::onnx_import {

// Adjusts constants that hold the file's batch where the binding's batch is another one. `options`:
// those that the binding was made with. Throws InputError.
Translation translate_at(const Model& model, const Uses& uses, const Binding& binding,
                         const ImportOptions& options);

}  // namespace strato::onnx_import
