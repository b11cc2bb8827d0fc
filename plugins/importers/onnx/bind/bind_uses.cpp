#include <algorithm>
#include <initializer_list>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "plugins/importers/onnx/bind/bind.h"
#include "plugins/importers/onnx/read/node_view.h"

namespace strato::onnx_import {
namespace {

bool one_of(std::string_view type, std::initializer_list<std::string_view> types) {
  return std::ranges::find(types, type) != types.end();
}

bool is_weight_slot(std::string_view type, int slot) {
  if (one_of(type, {"Conv", "ConvTranspose", "Gemm", "LayerNormalization", "InstanceNormalization",
                    "GroupNormalization"})) {
    return slot == 1 || slot == 2;
  }
  if (one_of(type, {"LSTM", "GRU", "RNN"})) return (slot >= 1 && slot <= 3) || slot == 7;
  if (type == "BatchNormalization") return slot >= 1;
  if (one_of(type, {"MatMul", "PRelu", "ConvInteger", "MatMulInteger"})) return slot == 1;
  if (type == "Gather") return slot == 0;
  return false;
}

bool passes_on(std::string_view type) {
  return one_of(type, {"Identity", "Reshape", "Transpose", "Unsqueeze", "Squeeze", "Flatten",
                       "Cast", "DequantizeLinear"});
}

bool is_setting_slot(std::string_view type, int slot) {
  if (one_of(type, {"Resize", "Upsample", "Clip", "QuantizeLinear", "DequantizeLinear"}))
    return slot >= 1;
  if (one_of(type, {"Dropout", "Pow"})) return slot == 1;
  if (one_of(type, {"Pad", "OneHot"})) return slot == 2;
  if (type == "RotaryEmbedding") return slot >= 1;  // positions, and tables of their angles
  if (type == "GroupQueryAttention") return slot == 7 || slot == 8;
  return type == "Range";
}

bool is_arithmetic(std::string_view type) {
  return one_of(type, {"Add", "Sub", "Mul", "Div", "Pow", "Where", "Min", "Max", "Equal", "Less",
                       "LessOrEqual", "Greater", "GreaterOrEqual"});
}

}  // namespace

// Bodies of control flow read tensors from outside by name.
Uses::Uses(const onnx::GraphProto& graph) {
  for_each_node(graph.node(), [this](const onnx::NodeProto& node) {
    for (int slot = 0; slot < node.input_size(); ++slot)
      if (!node.input(slot).empty()) readers_[node.input(slot)].push_back({&node, slot});
  });
}

bool Uses::as_weight(const std::string& tensor) const {
  constexpr int kDepth = 4;
  std::unordered_set<std::string> seen;
  std::vector<std::pair<std::string, int>> open = {{tensor, 0}};
  while (!open.empty()) {
    const auto [name, depth] = open.back();
    open.pop_back();
    const auto readers = readers_.find(name);
    if (readers == readers_.end() || !seen.insert(name).second) continue;
    for (const Reader& reader : readers->second) {
      const std::string& type = reader.node->op_type();
      if (is_weight_slot(type, reader.slot)) return true;
      if (!passes_on(type) || reader.slot != 0 || depth == kDepth) continue;
      for (const std::string& output : reader.node->output()) open.emplace_back(output, depth + 1);
    }
  }
  return false;
}

bool Uses::only_as_setting(const std::string& tensor, bool lone_number) const {
  const auto readers = readers_.find(tensor);
  return readers != readers_.end() &&
         std::ranges::all_of(readers->second, [lone_number](const Reader& reader) {
           const std::string& type = reader.node->op_type();
           return is_setting_slot(type, reader.slot) || (lone_number && is_arithmetic(type));
         });
}

}  // namespace strato::onnx_import
