// Ops that hold the batch in a constant, or address rows of all samples together, written as ops
// that compute the same and whose samples are apart:
//   Tile of what has one element along the axes that it repeats     -> Expand
//   ScatterND into a box of its first input (x[:, 1:] = y)          -> Slice, Concat
//   Gather from rows of all samples by sample * rows + row          -> GatherElements
#pragma once

#include "plugins/importers/onnx/scope/scope.h"

namespace strato::onnx_import {

// Never fails: an op that is none of these stays as it is. Results keep their tensors.
void rewrite_for_samples(Translation& translation);

// Products with the transpose of a parameter become products that read it as it is stored
// (FusedMatMul, Gemm), so that no transpose is kept beside it.
void read_weights_as_stored(Translation& translation);

}  // namespace strato::onnx_import
