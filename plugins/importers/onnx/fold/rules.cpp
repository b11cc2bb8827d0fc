#include "plugins/importers/onnx/fold/rules.h"

#include <functional>
#include <numeric>

#include "core/graph/value/op_reader.h"
#include "plugins/importers/onnx/read/node_view.h"

namespace strato::onnx_import {
namespace {

// The same elements under another shape.
Value reshaped(const Value& in, Shape shape) {
  need(foldable_count(shape) == in.size());
  Value out = in;
  out.shape = std::move(shape);
  return out;
}

// Marks these axes among `rank`.
std::vector<bool> marked(const std::vector<Int>& axes, std::size_t rank) {
  std::vector<bool> marks(rank, false);
  for (const Int axis : axes) marks[axis_in(axis, rank)] = true;
  return marks;
}

Value identity(const FoldInput& fold) { return fold.at(0); }

Value reshape(const FoldInput& fold) {
  const Value& in = fold.at(0);
  Shape shape = needed(fold.list("shape", 1));
  const bool copies_zeros = integer(fold.node, "allowzero", 0) == 0;
  Int known = 1;
  std::optional<std::size_t> open;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 0 && copies_zeros && i < in.shape.size()) shape[i] = in.shape[i];
    if (shape[i] == -1 && !open) {
      open = i;
      continue;
    }
    need(shape[i] >= 0 && shape[i] <= kMaxFoldedElements);
    if (known <= kMaxFoldedElements) known *= shape[i];
  }
  if (open) {
    need(known != 0);
    shape[*open] = static_cast<Int>(in.size()) / known;
  }
  return reshaped(in, std::move(shape));
}

Value squeeze(const FoldInput& fold) {
  const Value& in = fold.at(0);
  const auto axes = fold.list("axes", 1);
  const std::vector<bool> gone = marked(axes.value_or(std::vector<Int>()), in.shape.size());
  Shape shape;
  for (std::size_t i = 0; i < gone.size(); ++i)
    if (axes ? !gone[i] : in.shape[i] != 1) shape.push_back(in.shape[i]);
  return reshaped(in, std::move(shape));
}

Value unsqueeze(const FoldInput& fold) {
  const Value& in = fold.at(0);
  const std::vector<Int> axes = needed(fold.list("axes", 1));
  need(axes.size() <= 16);
  const std::vector<bool> added = marked(axes, in.shape.size() + axes.size());
  need(std::ranges::count(added, true) == std::ssize(axes));
  Shape shape;
  std::size_t next = 0;
  for (const bool one : added) shape.push_back(one ? 1 : in.shape[next++]);
  return reshaped(in, std::move(shape));
}

Value flatten(const FoldInput& fold) {
  const Value& in = fold.at(0);
  const Int rank = std::ssize(in.shape), given = integer(fold.node, "axis", 1);
  const Int axis = given < 0 ? given + rank : given;
  need(axis >= 0 && axis <= rank);
  const Int outer =
      std::accumulate(in.shape.begin(), in.shape.begin() + axis, Int{1}, std::multiplies<>());
  need(outer != 0);
  return reshaped(in, {outer, static_cast<Int>(in.size()) / outer});
}

Value transpose(const FoldInput& fold) {
  const Value& in = fold.at(0);
  std::vector<Int> axes(in.shape.size());
  std::iota(axes.begin(), axes.end(), Int{0});
  const std::vector<Int> reversed(axes.rbegin(), axes.rend());
  const std::vector<Int> order = integer_list(fold.node, "perm").value_or(reversed);
  std::vector<Int> sorted = order;
  std::ranges::sort(sorted);
  need(sorted == axes);
  const std::vector<Int> strides = strides_of(in.shape);
  Shape shape;
  std::vector<Int> steps;
  for (const Int axis : order) {
    shape.push_back(in.shape[static_cast<std::size_t>(axis)]);
    steps.push_back(strides[static_cast<std::size_t>(axis)]);
  }
  return gathered(in, shape, places(shape, steps));
}

Value expand(const FoldInput& fold) {
  const Value &in = fold.at(0), &target = fold.at(1);
  need(!target.floating());
  const Broadcast all({in.shape, target.ints});
  return gathered(in, all.shape, all.at[0]);
}

Value tile(const FoldInput& fold) {
  const Value& in = fold.at(0);
  const std::vector<Int>& repeats = fold.at(1).ints;
  need(repeats.size() == in.shape.size());
  const std::vector<Int> strides = strides_of(in.shape);
  Shape shape, walked;  // each axis of the result as two: which copy, and where in it
  std::vector<Int> steps;
  for (std::size_t i = 0; i < repeats.size(); ++i) {
    need(repeats[i] >= 0 && repeats[i] <= kMaxFoldedElements);
    shape.push_back(in.shape[i] * repeats[i]);
    walked.insert(walked.end(), {repeats[i], in.shape[i]});
    steps.insert(steps.end(), {0, strides[i]});
  }
  return gathered(in, std::move(shape), places(walked, steps));
}

// Axes that are out of range do not count.
std::vector<bool> reduced_axes(const FoldInput& fold, std::size_t rank) {
  const std::vector<Int> axes = fold.list("axes", 1).value_or(std::vector<Int>());
  const bool none = axes.empty() && integer(fold.node, "noop_with_empty_axes", 0) != 0;
  std::vector<bool> reduced(rank, axes.empty() && !none);
  for (const Int axis : axes) {
    const auto at = static_cast<std::size_t>(axis < 0 ? axis + static_cast<Int>(rank) : axis);
    if (at < rank) reduced[at] = true;
  }
  return reduced;
}

Value reduction(const FoldInput& fold) {
  const Value& in = fold.at(0);
  need(in.size() > 0);
  const std::vector<bool> reduced = reduced_axes(fold, in.shape.size());
  const bool keep = integer(fold.node, "keepdims", 1) != 0;
  Shape kept = in.shape, shape;
  for (std::size_t i = 0; i < kept.size(); ++i) {
    if (reduced[i]) kept[i] = 1;
    if (keep || !reduced[i]) shape.push_back(kept[i]);
  }
  const std::vector<std::size_t> target = broadcast_source(kept, in.shape);
  Value out{in.type, std::move(shape), {}, {}};
  with_elements(in, out, [&](const auto& from, auto& to) {
    to.resize(foldable_count(kept));
    std::vector<bool> started(to.size(), false);
    for (std::size_t i = 0; i < from.size(); ++i) {
      auto& sum = to[target[i]];
      sum = started[target[i]] ? combined(fold.node.op_type(), sum, from[i]) : from[i];
      started[target[i]] = true;
    }
  });
  return out;
}

Value cumulative_sum(const FoldInput& fold) {
  const Value& in = fold.at(0);
  const std::vector<Int>& along = fold.at(1).ints;
  need(along.size() == 1 && integer(fold.node, "exclusive", 0) == 0 &&
       integer(fold.node, "reverse", 0) == 0);
  const std::size_t axis = axis_in(along[0], in.shape.size());
  const auto stride = static_cast<std::size_t>(strides_of(in.shape)[axis]);
  const auto extent = static_cast<std::size_t>(in.shape[axis]);
  Value out = in;
  with_elements(in, out, [&](const auto&, auto& sums) {
    for (std::size_t i = 0; i < sums.size(); ++i)
      if (i / stride % extent != 0) sums[i] = combined("Add", sums[i], sums[i - stride]);
  });
  return out;
}

}  // namespace

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

Int place_in(Int place, Int extent) {
  need(place >= -extent && place < extent);
  return place < 0 ? place + extent : place;
}

std::size_t axis_in(Int axis, std::size_t rank) {
  return static_cast<std::size_t>(place_in(axis, static_cast<Int>(rank)));
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
  const std::size_t missing = shape.size() - from.size();
  std::vector<Int> steps = strides_of(from);
  for (std::size_t axis = 0; axis < from.size(); ++axis) {
    need(from[axis] == 1 || from[axis] == shape[missing + axis]);
    if (from[axis] == 1) steps[axis] = 0;
  }
  steps.insert(steps.begin(), missing, 0);
  return places(shape, steps);
}

Broadcast::Broadcast(std::initializer_list<Shape> shapes) {
  for (const Shape& each : shapes) shape = broadcast_shape(shape, each);
  for (const Shape& each : shapes) at.push_back(broadcast_source(each, shape));
}

Value gathered(const Value& from, Shape shape, const std::vector<std::size_t>& source) {
  Value result{from.type, std::move(shape), {}, {}};
  for (const std::size_t i : source) result.push(from, i);
  return result;
}

const FoldRules& shape_rules() {
  static const FoldRules rules = {
      {"Identity", identity},     {"Reshape", reshape},     {"Squeeze", squeeze},
      {"Unsqueeze", unsqueeze},   {"Flatten", flatten},     {"Transpose", transpose},
      {"Expand", expand},         {"Tile", tile},           {"ReduceProd", reduction},
      {"ReduceSum", reduction},   {"ReduceMax", reduction}, {"ReduceMin", reduction},
      {"CumSum", cumulative_sum},
  };
  return rules;
}

}  // namespace strato::onnx_import
