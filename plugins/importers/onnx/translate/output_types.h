// The types of an op's outputs: from libonnx's inference, else the catalogue, else what the file
// declares, else (for op types that nobody knows) the first input's. Include in .cpp files only.
#pragma once

#include <vector>

#include "plugins/importers/onnx/infer/infer.h"
#include "plugins/importers/onnx/scope/scope.h"

namespace strato::onnx_import {

// One per output of the node, which becomes `op`. Throws InputError when a known op's cannot be
// told.
std::vector<Facts> output_types(const Scope& scope, const onnx::NodeProto& node,
                                const TranslatedOp& op, const Inference& inference);

}  // namespace strato::onnx_import
