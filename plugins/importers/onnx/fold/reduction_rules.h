// Folding of reductions and running sums. Include in .cpp files only.
#pragma once

#include "plugins/importers/onnx/fold/fold_rules.h"

namespace strato::onnx_import {

const FoldRules& reduction_rules();

}  // namespace strato::onnx_import
