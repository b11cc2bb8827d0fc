#include "core/graph/train/initial_value.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <optional>
#include <string_view>

#include "core/graph/value/op_reader.h"

namespace strato {
namespace {

using Kind = InitialValue::Kind;

bool is_one_of(std::string_view type, std::initializer_list<std::string_view> types) {
  return std::find(types.begin(), types.end(), type) != types.end();
}

// ---- integers: how many values the readers can tell apart

// Ops whose (first) output holds elements of their first input.
bool hands_on(const Op& op) {
  return op.family == OpFamily::View ||
         is_one_of(op.type, {"Cast", "Transpose", "Slice", "Expand", "Concat", "Split", "Tile"});
}

std::optional<std::int64_t> bound_by(const Graph& graph, const Op& op, std::size_t slot) {
  const OpReader reader(graph, op);
  if (slot == 1 && is_one_of(op.type, {"Gather", "GatherElements"}))
    return extent(reader.in(0), op.integer("axis", 0));
  if (slot == 1 && op.type == "BlockLogSumExp") return extent(reader.in(0), -1);
  if (slot == 1 && op.family == OpFamily::Loss && !is_floating(reader.input(1).type))
    return extent(reader.in(0), op.integer("axis", 1));
  return std::nullopt;
}

std::optional<std::int64_t> bound_of(const Graph& graph, TensorId tensor, int depth = 16) {
  std::optional<std::int64_t> bound;
  const auto meet = [&bound](std::optional<std::int64_t> other) {
    if (other) bound = bound ? std::min(*bound, *other) : *other;
  };
  for (const OpId id : graph.consumers(tensor)) {
    const Op& op = graph.op(id);
    for (std::size_t slot = 0; slot < op.inputs.size(); ++slot)
      if (op.inputs[slot] == tensor) meet(bound_by(graph, op, slot));
    if (hands_on(op) && depth > 0 && !op.outputs.empty() && op.phase == Phase::Forward)
      meet(bound_of(graph, op.outputs[0], depth - 1));
  }
  return bound;
}

InitialValue value_of_input(const Graph& graph, TensorId id) {
  const auto bound = bound_of(graph, id);
  if (bound) return {Kind::Integers, 0, static_cast<double>(std::max<std::int64_t>(1, *bound))};
  if (!is_floating(graph.tensor(id).type)) return {Kind::Fill, 1, 0};  // masks, lengths
  return {Kind::Uniform, -std::sqrt(3.0), std::sqrt(3.0)};             // of variance one
}

// ---- parameters: keep the variance of what passes through (He et al. 2015 for layers that a
// rectifier follows)

double fan_in(const Op& op, const Shape& shape, std::size_t slot) {
  if (op.type == "Conv") return product(shape, 1);
  if (op.type == "ConvTranspose") return product(shape) / static_cast<double>(shape[1]);
  if (op.type == "Gemm" && slot == 1 && op.integer("transB", 0) != 0)
    return static_cast<double>(shape[1]);
  return static_cast<double>(shape[shape.size() - 2]);
}

bool scales(const Op& op, std::size_t slot) {
  const bool normalizes = op.family == OpFamily::Normalization;
  return (normalizes && (slot == 1 || slot == 4)) || op.type == "Mul" || op.type == "Div";
}

// The copy in another type that the model computes with, where the parameter is cast first.
TensorId computed_with(const Graph& graph, TensorId id) {
  while (!graph.consumers(id).empty()) {
    const Op& op = graph.op(graph.consumers(id)[0]);
    if (op.type != "Cast" || op.phase != Phase::Forward) break;
    id = op.outputs[0];
  }
  return id;
}

InitialValue value_of_parameter(const Graph& graph, TensorId parameter) {
  const TensorId id = computed_with(graph, parameter);
  const Shape& shape = graph.tensor(id).shape;
  for (const OpId reader : graph.consumers(id)) {
    const Op& op = graph.op(reader);
    if (op.phase != Phase::Forward) break;
    const auto slot = static_cast<std::size_t>(std::find(op.inputs.begin(), op.inputs.end(), id) -
                                               op.inputs.begin());
    if (scales(op, slot)) return {Kind::Fill, 1, 0};
    if (op.family == OpFamily::Normalization || shape.size() < 2) break;
    double variance = 2 / std::max(1.0, fan_in(op, shape, slot));
    if (op.family == OpFamily::Embedding) variance = 1 / static_cast<double>(shape.back());
    const double half = std::sqrt(3 * variance);
    return {Kind::Uniform, -half, half};
  }
  return {Kind::Fill, 0, 0};  // biases, shifts, means
}

InitialValue value_of_constant(const Tensor& tensor) {
  if (tensor.data) return {Kind::Data, 0, 0};
  // The gradient that the loss starts from; and contents that the importer did not keep.
  return {Kind::Fill, tensor.elements() == 1 ? 1.0 : 0.0, 0};
}

}  // namespace

InitialValue initial_value(const Graph& graph, TensorId id) {
  const Tensor& tensor = graph.tensor(id);
  switch (tensor.role) {
    case TensorRole::Input:
      return value_of_input(graph, id);
    case TensorRole::Parameter:
      return value_of_parameter(graph, id);
    case TensorRole::Constant:
      return value_of_constant(tensor);
    default:
      return {Kind::Fill, 0, 0};  // optimizer state
  }
}

}  // namespace strato
