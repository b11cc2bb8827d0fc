// Reading an ONNX node: its attributes with defaults. Include in .cpp files only.
#pragma once

#include <onnx/onnx_pb.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace strato::onnx_import {

const onnx::AttributeProto* find_attribute(const onnx::NodeProto& node, std::string_view name);
std::int64_t integer(const onnx::NodeProto& node, std::string_view name, std::int64_t fallback);
std::optional<std::vector<std::int64_t>> integer_list(const onnx::NodeProto& node,
                                                      std::string_view name);
bool has_input(const onnx::NodeProto& node, int slot);  // present and not left out by an empty name

}  // namespace strato::onnx_import
