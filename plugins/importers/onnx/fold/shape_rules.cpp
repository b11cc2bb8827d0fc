#include "plugins/importers/onnx/fold/shape_rules.h"

#include <numeric>
#include <utility>

#include "plugins/importers/onnx/read/node_view.h"

namespace strato::onnx_import {
namespace {

using Int = std::int64_t;

// The same elements under another shape.
FoldResult reshaped(const Value& in, Shape shape) {
  const std::optional<std::size_t> count = foldable_count(shape);
  if (!count || *count != in.size()) return {};
  Value out = in;
  out.shape = std::move(shape);
  return {std::move(out)};
}

FoldResult identity(const FoldInput& fold) {
  const Value* in = fold.input(0);
  return in != nullptr ? FoldResult{*in} : FoldResult{};
}

FoldResult reshape(const FoldInput& fold) {
  const Value* in = fold.input(0);
  const auto target = fold.list("shape", 1);
  if (in == nullptr || !target) return {};
  Shape shape = *target;
  Int known = 1;
  int open = -1;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 0 && integer(fold.node, "allowzero", 0) == 0 && i < in->shape.size()) {
      shape[i] = in->shape[i];
    }
    if (shape[i] == -1 && open < 0)
      open = static_cast<int>(i);
    else if (shape[i] < 0 || shape[i] > kMaxFoldedElements)
      return {};
    else if (known <= kMaxFoldedElements)
      known *= shape[i];
  }
  if (open >= 0) {
    if (known == 0) return {};
    shape[static_cast<std::size_t>(open)] = static_cast<Int>(in->size()) / known;
  }
  return reshaped(*in, std::move(shape));
}

FoldResult squeeze(const FoldInput& fold) {
  const Value* in = fold.input(0);
  if (in == nullptr) return {};
  const std::size_t rank = in->shape.size();
  std::vector<bool> gone(rank, false);
  const auto axes = fold.list("axes", 1);
  for (const Int axis : axes.value_or(std::vector<Int>())) {
    const std::optional<int> at = axis_in(axis, rank);
    if (!at) return {};
    gone[static_cast<std::size_t>(*at)] = true;
  }
  Shape shape;
  for (std::size_t i = 0; i < rank; ++i) {
    if (axes ? !gone[i] : in->shape[i] != 1) shape.push_back(in->shape[i]);
  }
  return reshaped(*in, std::move(shape));
}

FoldResult unsqueeze(const FoldInput& fold) {
  const Value* in = fold.input(0);
  const auto axes = fold.list("axes", 1);
  if (in == nullptr || !axes || axes->size() > 16) return {};
  const std::size_t rank = in->shape.size() + axes->size();
  std::vector<bool> added(rank, false);
  for (const Int axis : *axes) {
    const std::optional<int> at = axis_in(axis, rank);
    if (!at || added[static_cast<std::size_t>(*at)]) return {};
    added[static_cast<std::size_t>(*at)] = true;
  }
  Shape shape;
  std::size_t next = 0;
  for (std::size_t i = 0; i < rank; ++i) shape.push_back(added[i] ? 1 : in->shape[next++]);
  return reshaped(*in, std::move(shape));
}

FoldResult flatten(const FoldInput& fold) {
  const Value* in = fold.input(0);
  if (in == nullptr) return {};
  Int axis = integer(fold.node, "axis", 1);
  const auto rank = static_cast<Int>(in->shape.size());
  if (axis < 0) axis += rank;
  if (axis < 0 || axis > rank) return {};
  Int outer = 1;
  for (Int i = 0; i < axis; ++i) outer *= in->shape[static_cast<std::size_t>(i)];
  if (outer == 0) return {};
  return reshaped(*in, {outer, static_cast<Int>(in->size()) / outer});
}

FoldResult transpose(const FoldInput& fold) {
  const Value* in = fold.input(0);
  if (in == nullptr) return {};
  const std::size_t rank = in->shape.size();
  std::vector<Int> order(rank);
  std::iota(order.rbegin(), order.rend(), Int{0});
  order = integer_list(fold.node, "perm").value_or(order);
  std::vector<bool> seen(rank, false);
  if (order.size() != rank) return {};
  for (const Int axis : order) {
    if (axis < 0 || axis >= static_cast<Int>(rank) || seen[static_cast<std::size_t>(axis)])
      return {};
    seen[static_cast<std::size_t>(axis)] = true;
  }
  const std::vector<Int> from = strides_of(in->shape);
  Shape shape;
  for (const Int axis : order) shape.push_back(in->shape[static_cast<std::size_t>(axis)]);
  const std::vector<Int> to = strides_of(shape);
  std::vector<std::size_t> source(in->size());
  for (std::size_t i = 0; i < source.size(); ++i) {
    Int at = 0;
    for (std::size_t axis = 0; axis < rank; ++axis) {
      at += static_cast<Int>(i) / to[axis] % shape[axis] *
            from[static_cast<std::size_t>(order[axis])];
    }
    source[i] = static_cast<std::size_t>(at);
  }
  return {gathered(*in, std::move(shape), source)};
}

FoldResult expand(const FoldInput& fold) {
  const Value* in = fold.input(0);
  const Value* target = fold.input(1);
  if (!in || !target || target->floating()) return {};
  const std::optional<Shape> shape = broadcast(in->shape, target->ints);
  if (!shape || !foldable_count(*shape)) return {};
  return {gathered(*in, *shape, broadcast_source(in->shape, *shape))};
}

FoldResult tile(const FoldInput& fold) {
  const Value* in = fold.input(0);
  const Value* repeats = fold.input(1);
  if (!in || !repeats || repeats->ints.size() != in->shape.size()) return {};
  Shape shape = in->shape;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (repeats->ints[i] < 0 || repeats->ints[i] > kMaxFoldedElements) return {};
    shape[i] *= repeats->ints[i];
  }
  const std::optional<std::size_t> count = foldable_count(shape);
  if (!count) return {};
  const std::vector<Int> to = strides_of(shape), from = strides_of(in->shape);
  std::vector<std::size_t> source(*count, 0);
  for (std::size_t i = 0; i < *count; ++i) {
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
      const Int at = static_cast<Int>(i) / to[axis] % shape[axis] % in->shape[axis];
      source[i] += static_cast<std::size_t>(at * from[axis]);
    }
  }
  return {gathered(*in, std::move(shape), source)};
}

}  // namespace

const FoldRules& shape_rules() {
  static const FoldRules rules = {
      {"Identity", identity},   {"Reshape", reshape}, {"Squeeze", squeeze},
      {"Unsqueeze", unsqueeze}, {"Flatten", flatten}, {"Transpose", transpose},
      {"Expand", expand},       {"Tile", tile},
  };
  return rules;
}

}  // namespace strato::onnx_import
