#include "plugins/importers/onnx/fold/fold_rules.h"

#include <algorithm>
#include <utility>

#include "plugins/importers/onnx/read/node_view.h"

namespace strato::onnx_import {

std::optional<std::vector<std::int64_t>> FoldInput::list(std::string_view attribute,
                                                         std::size_t i) const {
  if (const Value* value = input(i); value != nullptr && !value->floating()) return value->ints;
  return integer_list(node, attribute);
}

std::optional<std::size_t> foldable_count(const Shape& shape) {
  const std::optional<std::int64_t> count = element_count(shape);
  if (!count || *count > kMaxFoldedElements) return std::nullopt;
  return static_cast<std::size_t>(*count);
}

std::optional<int> axis_in(std::int64_t axis, std::size_t rank) {
  const auto extent = static_cast<std::int64_t>(rank);
  if (axis < -extent || axis >= extent) return std::nullopt;
  return static_cast<int>(axis < 0 ? axis + extent : axis);
}

std::vector<std::int64_t> strides_of(const Shape& shape) {
  std::vector<std::int64_t> strides(shape.size(), 1);
  for (std::size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
  return strides;
}

std::optional<Shape> broadcast(const Shape& a, const Shape& b) {
  const std::size_t rank = std::max(a.size(), b.size());
  Shape shape(rank, 1);
  for (std::size_t i = 0; i < rank; ++i) {
    const std::int64_t x = i < a.size() ? a[a.size() - 1 - i] : 1;
    const std::int64_t y = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (x != y && x != 1 && y != 1) return std::nullopt;
    shape[rank - 1 - i] = x == 1 ? y : x;
  }
  return shape;
}

Value gathered(const Value& from, Shape shape, const std::vector<std::size_t>& source) {
  Value result;
  result.type = from.type;
  result.shape = std::move(shape);
  for (const std::size_t i : source) {
    if (from.floating())
      result.reals.push_back(from.reals[i]);
    else
      result.ints.push_back(from.ints[i]);
  }
  return result;
}

std::vector<std::size_t> broadcast_source(const Shape& from, const Shape& shape) {
  const std::vector<std::int64_t> from_strides = strides_of(from);
  const std::vector<std::int64_t> strides = strides_of(shape);
  const std::size_t skip = shape.size() - from.size();
  std::vector<std::size_t> source(foldable_count(shape).value_or(0));
  for (std::size_t i = 0; i < source.size(); ++i) {
    std::int64_t at = 0;
    for (std::size_t axis = 0; axis < from.size(); ++axis) {
      if (from[axis] == 1) continue;
      const std::size_t to = axis + skip;
      at += static_cast<std::int64_t>(i) / strides[to] % shape[to] * from_strides[axis];
    }
    source[i] = static_cast<std::size_t>(at);
  }
  return source;
}

}  // namespace strato::onnx_import
