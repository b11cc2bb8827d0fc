#include "plugins/importers/onnx/read/attributes.h"

#include <algorithm>
#include <optional>

#include "plugins/importers/onnx/read/tensor_value.h"

namespace strato::onnx_import {
namespace {

std::optional<Attribute> of_tensor(const onnx::TensorProto& tensor) {
  const std::shared_ptr<const Value> value = read_value(tensor, {});
  if (value == nullptr || value->size() != 1) return std::nullopt;
  if (value->floating()) return Attribute(value->reals[0]);
  return Attribute(value->ints[0]);
}

std::optional<Attribute> converted(const onnx::AttributeProto& attribute) {
  if (attribute.has_t()) return of_tensor(attribute.t());
  if (attribute.has_g() || attribute.tensors_size() > 0 || attribute.graphs_size() > 0)
    return std::nullopt;
  if (attribute.ints_size() > 0) {
    return std::vector<std::int64_t>(attribute.ints().begin(), attribute.ints().end());
  }
  if (attribute.floats_size() > 0) {
    return std::vector<double>(attribute.floats().begin(), attribute.floats().end());
  }
  if (attribute.strings_size() > 0) {
    std::string joined;
    for (const std::string& text : attribute.strings())
      joined += (joined.empty() ? "" : ",") + text;
    return Attribute(joined);
  }
  if (attribute.has_s()) return Attribute(attribute.s());
  if (attribute.has_f()) return Attribute(static_cast<double>(attribute.f()));
  if (attribute.has_i()) return Attribute(static_cast<std::int64_t>(attribute.i()));
  if (attribute.type() == onnx::AttributeProto::INTS) return Attribute(std::vector<std::int64_t>());
  return std::nullopt;
}

}  // namespace

std::vector<std::pair<std::string, Attribute>> attributes_of(const onnx::NodeProto& node) {
  std::vector<std::pair<std::string, Attribute>> result;
  for (const auto& attribute : node.attribute()) {
    if (std::optional<Attribute> value = converted(attribute)) {
      result.emplace_back(attribute.name(), std::move(*value));
    }
  }
  const auto by_name = [](const auto& a, const auto& b) { return a.first < b.first; };
  std::stable_sort(result.begin(), result.end(), by_name);
  return result;
}

}  // namespace strato::onnx_import
