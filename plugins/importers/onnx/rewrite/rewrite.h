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

}  // namespace strato::onnx_import
