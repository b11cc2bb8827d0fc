#include "plugins/importers/onnx/fold/picking_rules.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "plugins/importers/onnx/read/node_view.h"

namespace strato::onnx_import {
namespace {

using Int = std::int64_t;

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

}  // namespace

const FoldRules& picking_rules() {
  static const FoldRules rules = {
      {"Gather", gather},
      {"Slice", slice},
      {"Concat", concat},
      {"Split", split},
  };
  return rules;
}

}  // namespace strato::onnx_import
