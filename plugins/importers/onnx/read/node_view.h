// Reading an ONNX node: its attributes with defaults, and its name in messages. Include in .cpp
// files only.
#pragma once

#include <onnx/onnx_pb.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace strato::onnx_import {

using Nodes = google::protobuf::RepeatedPtrField<onnx::NodeProto>;

inline constexpr const char* kExportAgain = "export the model again";  // a remedy

const onnx::AttributeProto* find_attribute(const onnx::NodeProto& node, std::string_view name);
std::int64_t integer(const onnx::NodeProto& node, std::string_view name, std::int64_t fallback);
std::optional<std::vector<std::int64_t>> integer_list(const onnx::NodeProto& node,
                                                      std::string_view name);
bool has_input(const onnx::NodeProto& node, int slot);  // present and not left out by an empty name
std::string input_of(const onnx::NodeProto& node, int slot);  // empty: it has none
// Element i of a list of numbers; 0: the list is shorter, or not there.
std::int64_t listed(const onnx::NodeProto& node, std::string_view name, int i);

std::string label_of(const onnx::NodeProto& node);  // op "name" (Type), for messages
// Throws InputError about the node.
[[noreturn]] void refuse(const std::string& file, const onnx::NodeProto& node,
                         const std::string& problem, const std::string& remedy);

}  // namespace strato::onnx_import
