// Reading an ONNX node: its attributes with defaults, as the graph's, and as newer versions of ONNX
// have them; and its name in messages.
#pragma once

#include <onnx/onnx_pb.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/graph/value/graph.h"

namespace strato::onnx_import {

using Nodes = google::protobuf::RepeatedPtrField<onnx::NodeProto>;

inline constexpr const char* kExportAgain = "export the model again";  // a remedy

// Calls f with the nodes, each after those of its bodies.
template <class F>
void for_each_node(const Nodes& nodes, const F& f) {
  for (const onnx::NodeProto& node : nodes) {
    for (const auto& attribute : node.attribute())
      if (attribute.has_g()) for_each_node(attribute.g().node(), f);
    f(node);
  }
}

const onnx::AttributeProto* find_attribute(const onnx::NodeProto& node, std::string_view name);
std::int64_t integer(const onnx::NodeProto& node, std::string_view name, std::int64_t fallback);
std::optional<std::vector<std::int64_t>> integer_list(const onnx::NodeProto& node,
                                                      std::string_view name);
bool has_input(const onnx::NodeProto& node, int slot);  // present and not left out by an empty name
std::string input_of(const onnx::NodeProto& node, int slot);  // empty: it has none
// Element i of a list of numbers; 0: the list is shorter, or not there.
std::int64_t listed(const onnx::NodeProto& node, std::string_view name, int i);

// The graph's attributes: numbers, texts and lists; a list of texts is joined by commas; a tensor
// of one element becomes that number. Bodies and larger tensors are left out. Ascending by name.
std::vector<std::pair<std::string, Attribute>> attributes_of(const onnx::NodeProto& node);

// What functions and their calls say in fields that came after the version of ONNX that is linked
// (1.12): protobuf holds unknown fields beside a message's own.
// The call with the function's values for attributes that it does not give (ONNX 1.13).
onnx::NodeProto with_defaults(const onnx::NodeProto& call, const onnx::FunctionProto& function);
std::size_t default_bytes(const onnx::FunctionProto& function);  // that with_defaults() reads
// Where the module that the node comes from stands in the model, as PyTorch's exporter of 2.5 and
// later says (ONNX 1.16): "layers.0.attention". Empty where nothing says so.
std::string module_path(const onnx::NodeProto& node);
// Tells functions of one name apart, and calls of them (ONNX 1.16); mostly empty. Of a
// FunctionProto or a NodeProto.
std::string overload_of(const google::protobuf::Message& function_or_call);

// Makes a name of the file one of the graph: text that every file and window can show.
std::string graph_name(const std::string& name);
std::string given_name(const onnx::NodeProto& node);  // its own, or that of its first result
std::string label_of(const onnx::NodeProto& node);    // op "name" (Type), for messages
// Throws InputError about the node.
[[noreturn]] void refuse(const std::string& file, const onnx::NodeProto& node,
                         const std::string& problem, const std::string& remedy);

}  // namespace strato::onnx_import
