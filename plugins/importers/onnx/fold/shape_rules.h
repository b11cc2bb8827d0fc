// Folding of ops that rearrange or repeat elements under another shape. Include in .cpp files only.
#pragma once

#include "plugins/importers/onnx/fold/fold_rules.h"

namespace strato::onnx_import {

const FoldRules& shape_rules();

}  // namespace strato::onnx_import
