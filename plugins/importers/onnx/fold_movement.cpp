// Ops that pick, join and rearrange elements without changing them.
#include <algorithm>
#include <numeric>

#include "plugins/importers/onnx/fold_rules.h"

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

// The shape seen from one axis: outer x extent x inner.
struct AxisView {
  Int outer = 1, extent = 1, inner = 1;
  AxisView(const Shape& shape, int axis) {
    for (int i = 0; i < static_cast<int>(shape.size()); ++i) {
      (i < axis ? outer : i == axis ? extent : inner) *= shape[static_cast<std::size_t>(i)];
    }
  }
};

// Picks `picks` along an axis; `replacement` takes that axis's place in the shape.
FoldResult picked(const Value& in, int axis, const std::vector<Int>& picks,
                  const Shape& replacement) {
  const AxisView view(in.shape, axis);
  Shape shape(in.shape.begin(), in.shape.begin() + axis);
  shape.insert(shape.end(), replacement.begin(), replacement.end());
  shape.insert(shape.end(), in.shape.begin() + axis + 1, in.shape.end());
  if (!foldable_count(shape)) return {};
  std::vector<std::size_t> source;
  for (Int outer = 0; outer < view.outer; ++outer) {
    for (const Int pick : picks) {
      for (Int inner = 0; inner < view.inner; ++inner) {
        source.push_back(
            static_cast<std::size_t>((outer * view.extent + pick) * view.inner + inner));
      }
    }
  }
  return {gathered(in, std::move(shape), source)};
}

FoldResult gather(const FoldInput& fold) {
  const Value* in = fold.input(0);
  const Value* indices = fold.input(1);
  if (!in || !indices || indices->floating()) return {};
  const std::optional<int> axis = axis_in(integer(fold.node, "axis", 0), in->shape.size());
  if (!axis) return {};
  const Int extent = in->shape[static_cast<std::size_t>(*axis)];
  std::vector<Int> picks = indices->ints;
  for (Int& pick : picks) {
    if (pick < -extent || pick >= extent) return {};
    if (pick < 0) pick += extent;
  }
  return picked(*in, *axis, picks, indices->shape);
}

std::vector<Int> slice_picks(Int begin, Int end, Int step, Int extent) {
  std::vector<Int> picks;
  const Int low = step > 0 ? 0 : -1;
  const Int high = step > 0 ? extent : extent - 1;
  const auto inside = [&](Int at) {
    return std::clamp(at < 0 ? std::max(at, -extent - 1) + extent : at, low, high);
  };
  begin = inside(begin);
  end = inside(end);
  step = std::clamp(step, -extent - 1, extent + 1);
  for (Int at = begin; step > 0 ? at < end : at > end; at += step) picks.push_back(at);
  return picks;
}

FoldResult slice(const FoldInput& fold) {
  const Value* in = fold.input(0);
  const auto starts = fold.list("starts", 1), ends = fold.list("ends", 2);
  if (!in || !starts || !ends || starts->size() != ends->size()) return {};
  std::vector<Int> axes(starts->size());
  std::iota(axes.begin(), axes.end(), Int{0});
  axes = fold.list("axes", 3).value_or(axes);
  std::vector<Int> steps(starts->size(), 1);
  if (fold.input(4) != nullptr) steps = fold.input(4)->ints;
  if (axes.size() != starts->size() || steps.size() != starts->size()) return {};
  FoldResult result{*in};
  for (std::size_t i = 0; i < axes.size() && !result.empty(); ++i) {
    const std::optional<int> axis = axis_in(axes[i], in->shape.size());
    if (!axis || steps[i] == 0) return {};
    const Int extent = result[0].shape[static_cast<std::size_t>(*axis)];
    const std::vector<Int> picks = slice_picks((*starts)[i], (*ends)[i], steps[i], extent);
    result = picked(result[0], *axis, picks, {static_cast<Int>(picks.size())});
  }
  return result;
}

FoldResult concat(const FoldInput& fold) {
  if (fold.in.empty() || fold.in[0] == nullptr) return {};
  Value out{fold.in[0]->type, fold.in[0]->shape, {}, {}};
  const std::optional<int> axis = axis_in(integer(fold.node, "axis", 0), out.shape.size());
  if (!axis) return {};
  const auto at = static_cast<std::size_t>(*axis);
  out.shape[at] = 0;
  for (const Value* in : fold.in) {
    if (!in || in->type != out.type || in->shape.size() != out.shape.size()) return {};
    Shape other = in->shape;
    other[at] = out.shape[at];
    if (other != out.shape) return {};
    out.shape[at] += in->shape[at];
  }
  if (!foldable_count(out.shape)) return {};
  const AxisView view(out.shape, *axis);
  for (Int outer = 0; outer < view.outer; ++outer) {
    for (const Value* in : fold.in) {
      const Int run = in->shape[at] * view.inner;
      const auto copy = [&](const auto& from, auto& to) {
        to.insert(to.end(), from.begin() + outer * run, from.begin() + (outer + 1) * run);
      };
      if (out.floating())
        copy(in->reals, out.reals);
      else
        copy(in->ints, out.ints);
    }
  }
  return {std::move(out)};
}

FoldResult split(const FoldInput& fold) {
  const Value* in = fold.input(0);
  const int parts = fold.node.output_size();
  if (in == nullptr || parts == 0) return {};
  const std::optional<int> axis = axis_in(integer(fold.node, "axis", 0), in->shape.size());
  if (!axis) return {};
  const Int extent = in->shape[static_cast<std::size_t>(*axis)];
  std::vector<Int> sizes(static_cast<std::size_t>(parts), (extent + parts - 1) / parts);
  sizes.back() = extent - sizes[0] * (parts - 1);
  sizes = fold.list("split", 1).value_or(sizes);
  if (sizes.size() != static_cast<std::size_t>(parts)) return {};
  FoldResult result;
  Int begin = 0;
  for (const Int size : sizes) {
    if (size < 0 || size > extent - begin) return {};
    std::vector<Int> picks(static_cast<std::size_t>(size));
    std::iota(picks.begin(), picks.end(), begin);
    begin += size;
    FoldResult part = picked(*in, *axis, picks, {size});
    if (part.empty()) return {};
    result.push_back(std::move(part[0]));
  }
  return result;
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

const FoldRules& movement_rules() {
  static const FoldRules rules = {
      {"Identity", identity},   {"Reshape", reshape}, {"Squeeze", squeeze},
      {"Unsqueeze", unsqueeze}, {"Flatten", flatten}, {"Transpose", transpose},
      {"Gather", gather},       {"Slice", slice},     {"Concat", concat},
      {"Split", split},         {"Expand", expand},   {"Tile", tile},
  };
  return rules;
}

}  // namespace strato::onnx_import
