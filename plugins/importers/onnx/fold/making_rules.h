// Folding of ops that make elements from sizes, bounds and places. Include in .cpp files only.
#pragma once

#include "plugins/importers/onnx/fold/fold_rules.h"

namespace strato::onnx_import {

const FoldRules& making_rules();

}  // namespace strato::onnx_import
