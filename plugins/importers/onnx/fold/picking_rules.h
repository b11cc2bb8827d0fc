// Folding of ops that pick and join elements along an axis. Include in .cpp files only.
#pragma once

#include "plugins/importers/onnx/fold/fold_rules.h"

namespace strato::onnx_import {

const FoldRules& picking_rules();

}  // namespace strato::onnx_import
