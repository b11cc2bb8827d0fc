#include "plugins/importers/onnx/infer/implausible.h"

#include <cstdint>
#include <string_view>
#include <unordered_map>

#include "plugins/importers/onnx/read/node_view.h"

namespace strato::onnx_import {
namespace {

bool all_within(const onnx::AttributeProto& attribute, std::int64_t low, std::int64_t high) {
  if (attribute.has_i() && (attribute.i() < low || attribute.i() > high)) return false;
  for (const std::int64_t element : attribute.ints()) {
    if (element < low || element > high) return false;
  }
  return true;
}

// libonnx divides by strides and indexes by axes without looking: values that no op could have stop
// here.
std::string implausible_attribute(const onnx::NodeProto& node) {
  constexpr std::int64_t kLargest = std::int64_t{1} << 31;
  for (const auto& attribute : node.attribute()) {
    const std::string_view name = attribute.name();
    std::int64_t low = -kLargest, high = kLargest;
    if (name == "strides" || name == "dilations" || name == "kernel_shape" || name == "group" ||
        name == "blocksize" || name == "hidden_size" || name == "num_outputs") {
      low = 1;
    } else if (name == "axis" || name == "axes" || name == "batch_dims") {
      low = -64, high = 64;
    } else if (name == "perm") {
      low = 0, high = 64;
    } else if (name == "starts" || name == "ends" || name == "start" || name == "end") {
      continue;  // "to the end" is often written as the largest number
    }
    if (!all_within(attribute, low, high))
      return "attribute " + attribute.name() + " is out of range";
    if (attribute.ints_size() > 4096) return "attribute " + attribute.name() + " is too long";
  }
  return {};
}

// Data-moving ops index their first input's extents after only a look at its presence.
std::string implausible_rank(const onnx::NodeProto& node, const std::vector<const Facts*>& inputs) {
  static const std::unordered_map<std::string_view, std::size_t> least = {
      {"Conv", 3},          {"ConvTranspose", 3},
      {"MaxPool", 3},       {"AveragePool", 3},
      {"LpPool", 3},        {"GlobalAveragePool", 2},
      {"GlobalMaxPool", 2}, {"BatchNormalization", 1},
      {"MaxRoiPool", 4},    {"InstanceNormalization", 2},
      {"LSTM", 3},          {"GRU", 3},
      {"RNN", 3},           {"DepthToSpace", 4},
      {"SpaceToDepth", 4},  {"LayerNormalization", 1},
      {"Gemm", 2},          {"RoiAlign", 4},
      {"MaxUnpool", 3}};
  const auto rule = least.find(node.op_type());
  if (rule == least.end() || inputs.empty() || inputs[0] == nullptr) return {};
  if (inputs[0]->shape.size() < rule->second) return "its first input has too few dimensions";
  const bool filters = node.op_type() == "Conv" || node.op_type() == "ConvTranspose";
  if (filters && inputs.size() > 1 && inputs[1] != nullptr &&
      inputs[1]->shape.size() != inputs[0]->shape.size()) {
    return "its filter has another number of dimensions than its input";
  }
  return {};
}

// Indices must address what the input has.
std::string implausible_indices(const onnx::NodeProto& node,
                                const std::vector<const Facts*>& inputs) {
  if (node.op_type() != "GatherND" || inputs.size() < 2 || !inputs[0] || !inputs[1]) return {};
  const Shape& data = inputs[0]->shape;
  const Shape& indices = inputs[1]->shape;
  const std::int64_t shared = integer(node, "batch_dims", 0);
  const auto rank = static_cast<std::int64_t>(data.size());
  const bool good = !indices.empty() && shared >= 0 &&
                    shared < static_cast<std::int64_t>(indices.size()) && indices.back() >= 1 &&
                    shared + indices.back() <= rank;
  return good ? "" : "its indices do not fit its input";
}

}  // namespace

std::string implausible(const onnx::NodeProto& node, const std::vector<const Facts*>& inputs) {
  std::string problem = implausible_attribute(node);
  if (problem.empty()) problem = implausible_rank(node, inputs);
  if (problem.empty()) problem = implausible_indices(node, inputs);
  return problem;
}

}  // namespace strato::onnx_import
