#include "core/graph/ops/layout_shapes.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

namespace strato {
namespace {

using Int = std::int64_t;
using Ints = std::vector<Int>;

// Axes that a list tells, counted from the front: all of them where there is no list. Nothing for
// one that is not there.
std::optional<std::vector<std::size_t>> axes_in(const std::optional<Ints>& list, std::size_t rank) {
  std::vector<std::size_t> axes;
  for (const Int axis : list.value_or(Ints())) {
    const int counted = axis < -64 || axis > 64 ? -1 : wrap_axis(axis, rank);
    if (counted < 0 || counted >= static_cast<int>(rank)) return std::nullopt;
    axes.push_back(static_cast<std::size_t>(counted));
  }
  if (list) return axes;
  axes.resize(rank);
  std::iota(axes.begin(), axes.end(), std::size_t{0});
  return axes;
}

std::optional<Ints> attribute_list(const OpReader& op, std::string_view name) {
  return op->attribute(name) != nullptr ? std::optional(op->integers(name)) : std::nullopt;
}

// Up to the most that a tensor can have, or as much taken away.
bool within(Int difference) {
  constexpr Int kMost = Int{1} << 40;
  return difference >= -kMost && difference <= kMost;
}
bool fits(Int extent) { return extent >= 0 && within(extent); }

std::optional<std::vector<double>> reals(const OpReader& op, std::size_t input) {
  const Tensor& tensor = op.input(input);
  if (!op.has_input(input) || !tensor.data || tensor.type != DataType::F32) return std::nullopt;
  std::vector<float> values(tensor.data->size() / sizeof(float));
  if (!values.empty())
    std::memcpy(values.data(), tensor.data->data(), values.size() * sizeof(float));
  return std::vector<double>(values.begin(), values.end());
}

// The sizes that an axis is divided into.
Ints parts_of(const OpReader& op, Int whole) {
  constexpr Int kMostParts = Int{1} << 16;
  if (const auto sizes = op.list("split", 1)) return *sizes;
  const Int count = op->integer("num_outputs", 0);
  if (count < 1 || count > kMostParts) return {};
  const Int size = (whole + count - 1) / count;
  Ints parts(static_cast<std::size_t>(count), size);
  parts.back() = whole - size * (count - 1);
  return parts;
}

// With the same factor for all axes, as an image keeps its proportions.
void keep_proportions(const OpReader& op, const Shape& from, const std::vector<std::size_t>& axes,
                      Ints& sizes) {
  const std::string policy = op->text("keep_aspect_ratio_policy", "stretch");
  if (policy == "stretch" || axes.empty()) return;
  std::vector<double> factors;
  for (std::size_t i = 0; i < axes.size(); ++i)
    factors.push_back(static_cast<double>(sizes[i]) /
                      static_cast<double>(std::max<Int>(1, from[axes[i]])));
  const double factor =
      policy == "not_larger" ? std::ranges::min(factors) : std::ranges::max(factors);
  for (std::size_t i = 0; i < axes.size(); ++i)
    sizes[i] = static_cast<Int>(std::floor(factor * static_cast<double>(from[axes[i]]) + 0.5));
}

std::optional<Ints> sizes_by_factors(const std::vector<double>& factors, const Shape& from,
                                     const std::vector<std::size_t>& axes) {
  constexpr double kMost = 1e12;
  Ints sizes;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const double size = std::floor(static_cast<double>(from[axes[i]]) * factors[i]);
    if (!(size >= 0 && size < kMost)) return std::nullopt;
    sizes.push_back(static_cast<Int>(size));
  }
  return sizes;
}

}  // namespace

TensorTypes split_shape(const OpReader& op) {
  const int axis = op.axis("axis", 0, op.in(0).size());
  if (axis < 0 || axis >= static_cast<int>(op.in(0).size())) return {};
  TensorTypes types;
  for (const Int part : parts_of(op, extent(op.in(0), axis))) {
    if (!fits(part)) return {};
    Shape shape = op.in(0);
    shape[static_cast<std::size_t>(axis)] = part;
    types.push_back({op.input(0).type, std::move(shape)});
  }
  return types;
}

TensorTypes padded_shape(const OpReader& op) {
  Shape shape = op.in(0);
  const auto pads = op.list("pads", 1);
  const bool chosen = op.has_input(3);
  const std::optional<Ints> list = op.constant(3);
  if (!pads || (chosen && !list)) return {};
  const auto axes = axes_in(list, shape.size());
  if (!axes || pads->size() != 2 * axes->size()) return {};
  for (std::size_t i = 0; i < axes->size(); ++i) {
    const Int before = (*pads)[i], behind = (*pads)[i + axes->size()];
    if (!within(before) || !within(behind)) return {};
    Int& size = shape[(*axes)[i]];
    size += before + behind;
    if (!fits(size)) return {};
  }
  return typed_like_first(op, std::move(shape));
}

TensorTypes resized_shape(const OpReader& op) {
  Shape shape = op.in(0);
  const auto axes = axes_in(attribute_list(op, "axes"), shape.size());
  if (!axes) return {};
  std::optional<Ints> sizes = op.constant(3);
  if (sizes && sizes->size() == axes->size()) {
    keep_proportions(op, shape, *axes, *sizes);
  } else {
    auto factors = reals(op, 2);
    if (!factors) factors = reals(op, 1);
    if (!factors || factors->size() != axes->size()) return {};
    sizes = sizes_by_factors(*factors, shape, *axes);
  }
  for (std::size_t i = 0; sizes && i < axes->size(); ++i) {
    if (!fits((*sizes)[i])) return {};
    shape[(*axes)[i]] = (*sizes)[i];
  }
  return sizes ? typed_like_first(op, std::move(shape)) : TensorTypes{};
}

TensorTypes center_cropped_shape(const OpReader& op) {
  Shape shape = op.in(0);
  const auto axes = axes_in(attribute_list(op, "axes"), shape.size());
  const auto wanted = op.constant(1);
  if (!axes || !wanted || wanted->size() != axes->size()) return {};
  for (std::size_t i = 0; i < axes->size(); ++i) {
    if (!fits((*wanted)[i])) return {};
    shape[(*axes)[i]] = (*wanted)[i];
  }
  return typed_like_first(op, std::move(shape));
}

}  // namespace strato
