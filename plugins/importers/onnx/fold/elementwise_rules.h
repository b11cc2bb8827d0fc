// Folding of arithmetic, comparison, logic, casts and choices, element by element. Include in .cpp
// files only.
#pragma once

#include "plugins/importers/onnx/fold/fold.h"

namespace strato::onnx_import {

const FoldRules& elementwise_rules();

}  // namespace strato::onnx_import
