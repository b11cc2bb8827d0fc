#include "plugins/importers/onnx/read/node_view.h"

#include "core/base/error.h"

namespace strato::onnx_import {

const onnx::AttributeProto* find_attribute(const onnx::NodeProto& node, std::string_view name) {
  for (const auto& attribute : node.attribute()) {
    if (attribute.name() == name) return &attribute;
  }
  return nullptr;
}

std::int64_t integer(const onnx::NodeProto& node, std::string_view name, std::int64_t fallback) {
  const onnx::AttributeProto* attribute = find_attribute(node, name);
  return attribute != nullptr && attribute->has_i() ? attribute->i() : fallback;
}

std::optional<std::vector<std::int64_t>> integer_list(const onnx::NodeProto& node,
                                                      std::string_view name) {
  const onnx::AttributeProto* attribute = find_attribute(node, name);
  if (attribute == nullptr) return std::nullopt;
  return std::vector<std::int64_t>(attribute->ints().begin(), attribute->ints().end());
}

bool has_input(const onnx::NodeProto& node, int slot) {
  return slot < node.input_size() && !node.input(slot).empty();
}

std::string input_of(const onnx::NodeProto& node, int slot) {
  return slot < node.input_size() ? node.input(slot) : std::string();
}

std::int64_t listed(const onnx::NodeProto& node, std::string_view name, int i) {
  const auto list = integer_list(node, name);
  return list && i < static_cast<int>(list->size()) ? (*list)[static_cast<std::size_t>(i)] : 0;
}

std::string label_of(const onnx::NodeProto& node) {
  const std::string& name =
      !node.name().empty() || node.output_size() == 0 ? node.name() : node.output(0);
  return "op \"" + name + "\" (" + node.op_type() + ")";
}

void refuse(const std::string& file, const onnx::NodeProto& node, const std::string& problem,
            const std::string& remedy) {
  throw InputError(file, label_of(node), problem, remedy);
}

}  // namespace strato::onnx_import
