// Folding of ops that rearrange or repeat elements under another shape, of reductions and of
// running sums. Include in .cpp files only.
#pragma once

#include "plugins/importers/onnx/fold/fold.h"

namespace strato::onnx_import {

const FoldRules& shape_rules();

}  // namespace strato::onnx_import
