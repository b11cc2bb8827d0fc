// Linear layers that exporters wrap in two Reshapes: [steps, batch, k] -> [steps * batch, k] ->
// Gemm -> [steps * batch, n] -> [steps, batch, n]. In the merged axis the samples are no longer
// outermost, so that nothing behind it could be split by samples. The layer is the same on the axes
// as they are. Include in .cpp files only.
#pragma once

#include "plugins/importers/onnx/scope/tensors.h"

namespace strato::onnx_import {

// Rewrites each such layer to MatMul and Add (with a Transpose of a weight that is stored
// transposed).
void spread_linear_layers(Translation& translation);

}  // namespace strato::onnx_import
