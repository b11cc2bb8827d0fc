// Elements that get another shape or place, are picked and joined along an axis, or made from
// sizes, bounds and places.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/graph/value/op_reader.h"
#include "plugins/importers/onnx/fold/fold.h"
#include "plugins/importers/onnx/read/node_view.h"

namespace strato::onnx_import {
namespace {

// ---- another shape, or all elements in other places

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
  const auto outer = static_cast<Int>(product(in.shape, 0, static_cast<std::size_t>(axis)));
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

// ---- some elements along an axis, or made ones

// Picks `picks` along an axis; `replacement` takes that axis's place in the shape.
Value picked(const Value& in, std::size_t axis, const std::vector<Int>& picks,
             const Shape& replacement) {
  const Int inner = strides_of(in.shape)[axis], extent = in.shape[axis], count = std::ssize(picks);
  Shape shape = in.shape;
  const auto place = shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(axis));
  shape.insert(place, replacement.begin(), replacement.end());
  std::vector<std::size_t> source(foldable_count(shape));
  for (std::size_t i = 0; i < source.size(); ++i) {
    const Int run = static_cast<Int>(i) / inner, rest = static_cast<Int>(i) % inner;
    const Int pick = picks[static_cast<std::size_t>(run % count)];
    source[i] = static_cast<std::size_t>((run / count * extent + pick) * inner + rest);
  }
  return gathered(in, std::move(shape), source);
}

Value gather(const FoldInput& fold) {
  const Value &in = fold.at(0), &indices = fold.at(1);
  need(!indices.floating());
  const std::size_t axis = fold.axis(in.shape.size());
  const Int extent = in.shape[axis];
  std::vector<Int> picks = indices.ints;
  for (Int& pick : picks) pick = place_in(pick, extent);
  return picked(in, axis, picks, indices.shape);
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

Value slice(const FoldInput& fold) {
  Value result = fold.at(0);
  const std::vector<Int> starts = needed(fold.list("starts", 1)),
                         ends = needed(fold.list("ends", 2));
  std::vector<Int> axes(starts.size()), steps(starts.size(), 1);
  std::iota(axes.begin(), axes.end(), Int{0});
  axes = fold.list("axes", 3).value_or(axes);
  if (fold.find(4) != nullptr) steps = fold.find(4)->ints;
  need(ends.size() == starts.size() && axes.size() == starts.size() &&
       steps.size() == starts.size());
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::size_t axis = axis_in(axes[i], result.shape.size());
    need(steps[i] != 0);
    const std::vector<Int> picks = slice_picks(starts[i], ends[i], steps[i], result.shape[axis]);
    result = picked(result, axis, picks, {std::ssize(picks)});
  }
  return result;
}

Value concat(const FoldInput& fold) {
  Value out{fold.at(0).type, fold.at(0).shape, {}, {}};
  const std::size_t axis = fold.axis(out.shape.size());
  out.shape[axis] = 0;
  for (std::size_t i = 0; i < fold.in.size(); ++i) {
    const Value& in = fold.at(i);
    need(in.type == out.type && in.shape.size() == out.shape.size());
    Shape other = in.shape;
    other[axis] = out.shape[axis];
    need(other == out.shape);
    out.shape[axis] += in.shape[axis];
  }
  foldable_count(out.shape);
  const Int inner = strides_of(out.shape)[axis];
  const auto runs = static_cast<std::size_t>(product(out.shape, 0, axis));
  for (std::size_t n = 0; n < runs; ++n) {
    for (const Value* in : fold.in) {
      const auto run = static_cast<std::size_t>(in->shape[axis] * inner);
      for (std::size_t i = n * run; i < (n + 1) * run; ++i) out.push(*in, i);
    }
  }
  return out;
}

Value constant_of_shape(const FoldInput& fold) {
  const Value& shape = fold.at(0);
  need(!shape.floating());
  const std::size_t count = foldable_count(shape.ints);
  Value one = scalar(DataType::F32, 0);
  if (const onnx::AttributeProto* attribute = find_attribute(fold.node, "value")) {
    const std::shared_ptr<const Value> given = read_value(attribute->t(), {});
    need(given != nullptr && given->size() == 1);
    one = *given;
  }
  return gathered(one, shape.ints, std::vector<std::size_t>(count, 0));
}

Value range(const FoldInput& fold) {
  for (std::size_t i = 0; i < 3; ++i) need(fold.at(i).size() == 1);
  const double start = fold.at(0).real(0), limit = fold.at(1).real(0), step = fold.at(2).real(0);
  const double steps = step == 0 ? 0 : std::ceil((limit - start) / step);
  need(steps <= static_cast<double>(kMaxFoldedElements));
  Value out{fold.at(0).type, {static_cast<Int>(std::max(steps, 0.0))}, {}, {}};
  for (Int i = 0; i < out.shape[0]; ++i) {
    const double element = start + static_cast<double>(i) * step;
    if (out.floating()) {
      out.reals.push_back(rounded(element, out.type));
    } else {
      need(std::fabs(element) < 0x1p53);
      out.ints.push_back(static_cast<Int>(element));
    }
  }
  return out;
}

Value non_zero(const FoldInput& fold) {
  const Value& in = fold.at(0);
  std::vector<Int> hits;
  for (std::size_t i = 0; i < in.size(); ++i)
    if (in.real(i) != 0) hits.push_back(static_cast<Int>(i));
  const std::vector<Int> strides = strides_of(in.shape);
  Value out{DataType::I64, {std::ssize(in.shape), std::ssize(hits)}, {}, {}};
  foldable_count(out.shape);
  for (std::size_t axis = 0; axis < strides.size(); ++axis)
    for (const Int hit : hits) out.ints.push_back(hit / strides[axis] % in.shape[axis]);
  return out;
}

Value scatter_nd(const FoldInput& fold) {
  const Value &in = fold.at(0), &indices = fold.at(1), &updates = fold.at(2);
  const onnx::AttributeProto* mode = find_attribute(fold.node, "reduction");
  need(mode == nullptr || mode->s() == "none");
  need(in.type == updates.type && !indices.floating());
  need(!indices.shape.empty() && indices.shape.back() >= 1);
  const auto depth = static_cast<std::size_t>(indices.shape.back());
  need(depth <= in.shape.size());
  const std::vector<Int> strides = strides_of(in.shape);
  const Int run = strides[depth - 1];
  const std::size_t count = indices.ints.size() / depth;
  need(updates.size() == count * static_cast<std::size_t>(run));
  Value out = in;
  for (std::size_t i = 0; i < count; ++i) {
    Int at = 0;
    for (std::size_t axis = 0; axis < depth; ++axis)
      at += place_in(indices.ints[i * depth + axis], in.shape[axis]) * strides[axis];
    with_elements(updates, out, [&](const auto& from, auto& to) {
      std::copy_n(from.begin() + static_cast<Int>(i) * run, run, to.begin() + at);
    });
  }
  return out;
}

Value triangle(const FoldInput& fold) {
  const Value& in = fold.at(0);
  need(in.shape.size() >= 2);
  Int shift = 0;
  if (has_input(fold.node, 1)) {
    need(fold.at(1).ints.size() == 1);
    shift = std::clamp(fold.at(1).ints[0], -2 * kMaxFoldedElements, 2 * kMaxFoldedElements);
  }
  const bool upper = integer(fold.node, "upper", 1) != 0;
  const Int columns = in.shape.back(), rows = in.shape[in.shape.size() - 2];
  const Value zero = scalar(in.type, 0);
  Value out{in.type, in.shape, {}, {}};
  for (std::size_t i = 0; i < in.size(); ++i) {
    const Int column = static_cast<Int>(i) % columns, row = static_cast<Int>(i) / columns % rows;
    const bool kept = upper ? column - row >= shift : column - row <= shift;
    out.push(kept ? in : zero, kept ? i : 0);
  }
  return out;
}

}  // namespace

std::vector<Value> split(const FoldInput& fold) {
  const Value& in = fold.at(0);
  const int parts = fold.node.output_size();
  need(parts > 0);
  const std::size_t axis = fold.axis(in.shape.size());
  const Int extent = in.shape[axis];
  std::vector<Int> sizes(static_cast<std::size_t>(parts), (extent + parts - 1) / parts);
  sizes.back() = extent - sizes[0] * (parts - 1);
  sizes = fold.list("split", 1).value_or(sizes);
  need(std::ssize(sizes) == parts);
  std::vector<Value> result;
  Int begin = 0;
  for (const Int size : sizes) {
    need(size >= 0 && size <= extent - begin);
    std::vector<Int> picks(static_cast<std::size_t>(size));
    std::iota(picks.begin(), picks.end(), begin);
    begin += size;
    result.push_back(picked(in, axis, picks, {size}));
  }
  return result;
}

const FoldRules& moving_rules() {
  static const FoldRules rules = {
      {identity, {"Identity"}},   {reshape, {"Reshape"}},  {squeeze, {"Squeeze"}},
      {unsqueeze, {"Unsqueeze"}}, {flatten, {"Flatten"}},  {transpose, {"Transpose"}},
      {expand, {"Expand"}},       {tile, {"Tile"}},        {gather, {"Gather"}},
      {slice, {"Slice"}},         {concat, {"Concat"}},    {constant_of_shape, {"ConstantOfShape"}},
      {range, {"Range"}},         {non_zero, {"NonZero"}}, {scatter_nd, {"ScatterND"}},
      {triangle, {"Trilu"}}};
  return rules;
}

}  // namespace strato::onnx_import
