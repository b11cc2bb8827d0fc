#include "plugins/importers/onnx/fold/fold.h"

#include <algorithm>

#include "plugins/importers/onnx/fold/elementwise_rules.h"
#include "plugins/importers/onnx/fold/picking_rules.h"
#include "plugins/importers/onnx/fold/shape_rules.h"
#include "plugins/importers/onnx/read/node_view.h"

namespace strato::onnx_import {
namespace {

// Numpy's rule: aligned from the right, an extent of 1 stretches.
Shape broadcast(const Shape& a, const Shape& b) {
  const std::size_t rank = std::max(a.size(), b.size());
  Shape shape(rank, 1);
  for (std::size_t i = 0; i < rank; ++i) {
    const Int x = i < a.size() ? a[a.size() - 1 - i] : 1;
    const Int y = i < b.size() ? b[b.size() - 1 - i] : 1;
    need(x == y || x == 1 || y == 1);
    shape[rank - 1 - i] = x == 1 ? y : x;
  }
  return shape;
}

}  // namespace

std::vector<Value> fold(const onnx::NodeProto& node, const std::vector<const Value*>& inputs) {
  const FoldInput input{node, inputs};
  try {
    if (node.op_type() == "Split") return split(input);
    for (const FoldRules* rules : {&elementwise_rules(), &shape_rules(), &picking_rules()}) {
      const auto rule = rules->find(node.op_type());
      if (rule != rules->end() && node.output_size() <= 1) return {rule->second(input)};
    }
  } catch (const NotFolded&) {
  }
  return {};
}

const Value& FoldInput::at(std::size_t i) const {
  need(find(i) != nullptr);
  return *in[i];
}

std::optional<std::vector<Int>> FoldInput::list(std::string_view attribute, std::size_t i) const {
  if (const Value* value = find(i); value != nullptr && !value->floating()) return value->ints;
  return integer_list(node, attribute);
}

std::size_t FoldInput::axis(std::size_t rank) const {
  return axis_in(integer(node, "axis", 0), rank);
}

std::size_t foldable_count(const Shape& shape) {
  const Int count = needed(element_count(shape));
  need(count <= kMaxFoldedElements);
  return static_cast<std::size_t>(count);
}

std::size_t axis_in(Int axis, std::size_t rank) {
  const auto extent = static_cast<Int>(rank);
  need(axis >= -extent && axis < extent);
  return static_cast<std::size_t>(axis < 0 ? axis + extent : axis);
}

std::vector<Int> strides_of(const Shape& shape) {
  std::vector<Int> strides(shape.size(), 1);
  for (std::size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
  return strides;
}

std::vector<std::size_t> places(const Shape& shape, const std::vector<Int>& steps) {
  std::vector<std::size_t> result(foldable_count(shape));
  const std::vector<Int> strides = strides_of(shape);
  for (std::size_t i = 0; i < result.size(); ++i) {
    Int at = 0;
    for (std::size_t axis = 0; axis < shape.size(); ++axis)
      at += static_cast<Int>(i) / strides[axis] % shape[axis] * steps[axis];
    result[i] = static_cast<std::size_t>(at);
  }
  return result;
}

std::vector<std::size_t> broadcast_source(const Shape& from, const Shape& shape) {
  std::vector<Int> steps = strides_of(from);
  for (std::size_t axis = 0; axis < from.size(); ++axis) {
    if (from[axis] == 1) steps[axis] = 0;
  }
  steps.insert(steps.begin(), shape.size() - from.size(), 0);
  return places(shape, steps);
}

Broadcast::Broadcast(std::initializer_list<Shape> shapes) {
  for (const Shape& each : shapes) shape = broadcast(shape, each);
  for (const Shape& each : shapes) at.push_back(broadcast_source(each, shape));
}

Value gathered(const Value& from, Shape shape, const std::vector<std::size_t>& source) {
  Value result{from.type, std::move(shape), {}, {}};
  for (const std::size_t i : source) result.push(from, i);
  return result;
}

}  // namespace strato::onnx_import
