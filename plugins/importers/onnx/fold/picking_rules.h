// Folding of ops that pick and join elements along an axis, or make them from sizes, bounds and
// places. Include in .cpp files only.
#pragma once

#include "plugins/importers/onnx/fold/fold.h"

namespace strato::onnx_import {

const FoldRules& picking_rules();
std::vector<Value> split(const FoldInput& fold);  // the one op of several outputs

}  // namespace strato::onnx_import
