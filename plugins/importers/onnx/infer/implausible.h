// Nodes that libonnx's inference must not see: it divides by strides and indexes by axes without
// looking. Include in .cpp files only.
#pragma once

#include <onnx/onnx_pb.h>

#include <string>
#include <vector>

#include "plugins/importers/onnx/infer/facts.h"

namespace strato::onnx_import {

// Why no op could be like this, in words; empty: one could. inputs[i] null: left out.
std::string implausible(const onnx::NodeProto& node, const std::vector<const Facts*>& inputs);

}  // namespace strato::onnx_import
