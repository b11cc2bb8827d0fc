#include "plugins/importers/onnx/fold/making_rules.h"

#include <algorithm>
#include <cmath>

#include "plugins/importers/onnx/read/node_view.h"
#include "plugins/importers/onnx/read/tensor_value.h"

namespace strato::onnx_import {
namespace {

using Int = std::int64_t;

FoldResult constant_of_shape(const FoldInput& fold) {
  const Value* shape = fold.input(0);
  if (shape == nullptr || shape->floating()) return {};
  const std::optional<std::size_t> count = foldable_count(shape->ints);
  if (!count) return {};
  Value one = scalar(DataType::F32, 0);
  if (const onnx::AttributeProto* attribute = find_attribute(fold.node, "value")) {
    const std::shared_ptr<const Value> given = read_value(attribute->t(), {});
    if (!given || given->size() != 1) return {};
    one = *given;
  }
  return {gathered(one, shape->ints, std::vector<std::size_t>(*count, 0))};
}

FoldResult range(const FoldInput& fold) {
  const Value *start = fold.input(0), *limit = fold.input(1), *delta = fold.input(2);
  for (const Value* value : {start, limit, delta}) {
    if (value == nullptr || value->size() != 1) return {};
  }
  const double step = delta->real(0);
  const double steps = step == 0 ? 0 : std::ceil((limit->real(0) - start->real(0)) / step);
  if (!(steps <= static_cast<double>(kMaxFoldedElements))) return {};
  Value out{start->type, {std::max<Int>(0, static_cast<Int>(std::max(steps, 0.0)))}, {}, {}};
  for (Int i = 0; i < out.shape[0]; ++i) {
    const double element = start->real(0) + static_cast<double>(i) * step;
    if (out.floating())
      out.reals.push_back(rounded(element, out.type));
    else if (std::fabs(element) < 0x1p53)
      out.ints.push_back(static_cast<Int>(element));
    else
      return {};
  }
  return {std::move(out)};
}

FoldResult non_zero(const FoldInput& fold) {
  const Value* in = fold.input(0);
  if (in == nullptr) return {};
  std::vector<Int> hits;
  for (std::size_t i = 0; i < in->size(); ++i) {
    if (in->real(i) != 0) hits.push_back(static_cast<Int>(i));
  }
  const std::size_t rank = in->shape.size();
  const std::vector<Int> strides = strides_of(in->shape);
  Value out{DataType::I64, {static_cast<Int>(rank), static_cast<Int>(hits.size())}, {}, {}};
  if (!foldable_count(out.shape)) return {};
  for (std::size_t axis = 0; axis < rank; ++axis) {
    for (const Int hit : hits) out.ints.push_back(hit / strides[axis] % in->shape[axis]);
  }
  return {std::move(out)};
}

FoldResult scatter_nd(const FoldInput& fold) {
  const Value *in = fold.input(0), *indices = fold.input(1), *updates = fold.input(2);
  const onnx::AttributeProto* mode = find_attribute(fold.node, "reduction");
  if (mode != nullptr && mode->s() != "none") return {};
  if (!in || !indices || !updates || in->type != updates->type || indices->floating()) return {};
  if (indices->shape.empty() || indices->shape.back() < 1) return {};
  const auto depth = static_cast<std::size_t>(indices->shape.back());
  if (depth > in->shape.size()) return {};
  const std::vector<Int> strides = strides_of(in->shape);
  const auto run = static_cast<std::size_t>(strides[depth - 1]);
  const std::size_t count = indices->ints.size() / depth;
  if (updates->size() != count * run) return {};
  Value out = *in;
  for (std::size_t i = 0; i < count; ++i) {
    Int at = 0;
    for (std::size_t axis = 0; axis < depth; ++axis) {
      Int index = indices->ints[i * depth + axis];
      if (index < -in->shape[axis] || index >= in->shape[axis]) return {};
      if (index < 0) index += in->shape[axis];
      at += index * strides[axis];
    }
    const auto to = static_cast<std::ptrdiff_t>(at), from = static_cast<std::ptrdiff_t>(i * run);
    const auto length = static_cast<std::ptrdiff_t>(run);
    if (out.floating())
      std::copy_n(updates->reals.begin() + from, length, out.reals.begin() + to);
    else
      std::copy_n(updates->ints.begin() + from, length, out.ints.begin() + to);
  }
  return {std::move(out)};
}

FoldResult triangle(const FoldInput& fold) {
  const Value* in = fold.input(0);
  if (in == nullptr || in->shape.size() < 2) return {};
  Int shift = 0;
  if (has_input(fold.node, 1)) {
    if (fold.input(1) == nullptr || fold.input(1)->ints.size() != 1) return {};
    shift = std::clamp(fold.input(1)->ints[0], -2 * kMaxFoldedElements, 2 * kMaxFoldedElements);
  }
  const bool upper = integer(fold.node, "upper", 1) != 0;
  const Int columns = in->shape.back(), rows = in->shape[in->shape.size() - 2];
  Value out = *in;
  for (std::size_t i = 0; i < out.size(); ++i) {
    const Int column = static_cast<Int>(i) % columns, row = static_cast<Int>(i) / columns % rows;
    if (upper ? column - row >= shift : column - row <= shift) continue;
    if (out.floating())
      out.reals[i] = 0;
    else
      out.ints[i] = 0;
  }
  return {std::move(out)};
}

}  // namespace

const FoldRules& making_rules() {
  static const FoldRules rules = {
      {"Range", range},
      {"NonZero", non_zero},
      {"ScatterND", scatter_nd},
      {"Trilu", triangle},
      {"ConstantOfShape", constant_of_shape},
  };
  return rules;
}

}  // namespace strato::onnx_import
