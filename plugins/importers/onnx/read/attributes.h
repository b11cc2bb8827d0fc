// ONNX attributes as the graph's. Include in .cpp files only.
#pragma once

#include <onnx/onnx_pb.h>

#include <string>
#include <utility>
#include <vector>

#include "core/graph/value/graph.h"

namespace strato::onnx_import {

// Numbers, texts and lists; a list of texts is joined by commas; a tensor of one element becomes
// that number. Bodies and larger tensors are left out. Ascending by name.
std::vector<std::pair<std::string, Attribute>> attributes_of(const onnx::NodeProto& node);

}  // namespace strato::onnx_import
