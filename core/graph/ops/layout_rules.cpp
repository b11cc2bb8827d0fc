#include "core/graph/ops/layout_rules.h"

#include <algorithm>

#include "core/graph/ops/layout_shapes.h"

namespace strato {
namespace {

// ---- views

TensorTypes reshaped(const OpReader& op) {
  auto shape = op.list("shape", 1);
  if (!shape) return {};
  double known = 1;
  std::int64_t* open = nullptr;
  for (std::size_t i = 0; i < shape->size(); ++i) {
    std::int64_t& size = (*shape)[i];
    if (size == 0 && op->integer("allowzero", 0) == 0)
      size = extent(op.in(0), static_cast<std::int64_t>(i));
    if (size == -1)
      open = &size;
    else
      known *= static_cast<double>(size);
  }
  if (open) *open = known > 0 ? static_cast<std::int64_t>(product(op.in(0)) / known) : 0;
  return typed_like_first(op, *shape);
}

TensorTypes flattened(const OpReader& op) {
  const auto axis = static_cast<std::size_t>(std::max(0, op.axis("axis", 1, op.in(0).size())));
  return typed_like_first(op, {static_cast<std::int64_t>(product(op.in(0), 0, axis)),
                               static_cast<std::int64_t>(product(op.in(0), axis))});
}

bool names_axis(const std::vector<std::int64_t>& axes, std::size_t axis, std::size_t rank) {
  return std::ranges::any_of(
      axes, [&](std::int64_t named) { return wrap_axis(named, rank) == static_cast<int>(axis); });
}

TensorTypes squeezed(const OpReader& op) {
  if (op.has_input(1) && !op.constant(1)) return {};
  const Shape& in = op.in(0);
  const auto axes = op.list("axes", 1).value_or(std::vector<std::int64_t>{});
  Shape shape;
  for (std::size_t i = 0; i < in.size(); ++i) {
    const bool dropped = axes.empty() ? in[i] == 1 : names_axis(axes, i, in.size());
    if (!dropped) shape.push_back(in[i]);
  }
  return typed_like_first(op, shape);
}

TensorTypes unsqueezed(const OpReader& op) {
  const auto axes = op.list("axes", 1);
  if (!axes) return {};
  const Shape& in = op.in(0);
  const std::size_t rank = in.size() + axes->size();
  Shape shape;
  for (std::size_t i = 0, next = 0; i < rank; ++i)
    shape.push_back(names_axis(*axes, i, rank) || next >= in.size() ? 1 : in[next++]);
  return typed_like_first(op, shape);
}

// Keeps row-major order of the elements: the samples stay a factor of some axis, or get lost.
BatchAnswer batch_reshaped(BatchFlow& flow) {
  const int axis = flow.axis(0);
  if (axis < 0) return std::nullopt;
  // The samples are in this many runs in memory, one after the other; some axis must hold one or
  // several of them whole.
  const Shape &in = flow.op.in(0), &out = flow.op.out();
  const auto runs = static_cast<std::int64_t>(product(in, 0, static_cast<std::size_t>(axis))) *
                    flow.op.input(0).batch.blocks;
  BatchAnswer best;
  for (std::size_t i = 0; i < out.size(); ++i) {
    const auto before = static_cast<std::int64_t>(product(out, 0, i));
    if (before == 0 || runs % before != 0) continue;
    const std::int64_t blocks = runs / before;
    if (blocks == 0 || out[i] % (blocks * flow.batch) != 0) continue;
    const bool same = out[i] == extent(in, axis);
    if (!best || blocks < best->blocks || same)
      best = BatchLayout{BatchKind::Batched, static_cast<int>(i), blocks};
    if (blocks == 1 && same) break;  // tells axes apart in a batch of 1
  }
  return best;
}

OpRule view(ShapeRule shape, GradientRule gradient_rule) {
  return {.family = OpFamily::View,
          .shape = std::move(shape),
          .batch = batch_reshaped,
          .linear = Linearity::Joint,
          .gradient = std::move(gradient_rule),
          .unread = all_inputs,
          .view = true};
}

// ---- moves

std::optional<AxisLetters> transposed_axes(const OpReader& op) {
  AxisLetters result = all_mixed(op);
  const std::string in = letters_of(op.in(0).size());
  std::string out(in.rbegin(), in.rend());
  const auto permutation = op->integers("perm");
  for (std::size_t i = 0; i < std::min(permutation.size(), out.size()); ++i) {
    const int from = wrap_axis(permutation[i], in.size());
    const bool within = from >= 0 && from < static_cast<int>(in.size());
    out[i] = within ? in[static_cast<std::size_t>(from)] : AxisLetters::kMixed;
  }
  if (op.has_input(0)) result.inputs[0] = in;
  set_outputs(result, out);
  return result;
}

// Axes of another extent are cut or filled up.
AxesRule same_extents(const MixesAxis& mixes = nullptr) {
  return kept_axes([=](const OpReader& op, int axis) {
    return extent(op.in(0), axis) != extent(op.out(), axis) || (mixes && mixes(op, axis));
  });
}

std::optional<AxisLetters> padded_axes(const OpReader& op) {
  const auto pads = op.list("pads", 1);
  const std::size_t rank = op.in(0).size();
  if (!pads || pads->size() != 2 * rank || op.has_input(3)) return std::nullopt;
  return same_extents([&](const OpReader&, int axis) {
    const auto at = static_cast<std::size_t>(axis);
    return (*pads)[at] != 0 || (*pads)[at + rank] != 0;
  })(op);
}

// Slices that go backwards may keep an extent and turn the axis round.
std::optional<AxisLetters> sliced_axes(const OpReader& op) {
  const auto backwards = [](std::int64_t step) { return step < 1; };
  const auto steps = op.constant(4);
  if (op.has_input(4) && (!steps || std::ranges::any_of(*steps, backwards))) return std::nullopt;
  return same_extents()(op);
}

// The inputs from `first` on, every `step`th one, carry the batch on the same axis, which is not
// the one that the op works along.
BatchRule side_by_side(std::int64_t default_axis, std::size_t first = 0, std::size_t step = 1) {
  return [=](BatchFlow& flow) {
    const OpReader& op = flow.op;
    int axis = -1;
    for (std::size_t i = first; i < op.input_count() && axis < 0; i += step) axis = flow.axis(i);
    if (axis < 0) return BatchAnswer();
    bool follows = axis != op.axis("axis", default_axis, op.in(first).size());
    for (std::size_t i = first; i < op.input_count(); i += step)
      if (op.has_input(i)) follows = flow.requires_batch(i, axis) && follows;
    return flow.on_if(follows, axis);
  };
}

TensorTypes expanded_shape(const OpReader& op) {
  const auto shape = op.list("shape", 1);
  return shape ? typed_like_first(op, broadcast_shape(op.in(0), *shape)) : TensorTypes{};
}

std::optional<AxisLetters> expanded_axes(const OpReader& op) {
  AxisLetters result = all_mixed(op);
  const std::size_t rank = op.in(0).size();
  const std::string out = letters_of(std::max(op.out().size(), rank));
  result.inputs[0] = out.substr(out.size() - rank);
  set_outputs(result, out);
  return result;
}

BatchAnswer expanded_batch(BatchFlow& flow) {
  const Shape &in = flow.op.in(0), &out = flow.op.out();
  if (flow.axis(0) < 0) return std::nullopt;
  const int axis = flow.axis(0) + static_cast<int>(out.size()) - static_cast<int>(in.size());
  return flow.on_if(extent(out, axis) == extent(in, flow.axis(0)), axis);
}

// All gradients read the output's gradient only; what is not the first input says where elements
// go.
OpRule movement(BatchRule batch, AxesRule axes = nullptr, ShapeRule shape = nullptr,
                InputSet differentiable = inputs({0})) {
  return {.family = OpFamily::DataMovement,
          .shape = std::move(shape),
          .axes = std::move(axes),
          .batch = std::move(batch),
          .linear = Linearity::Joint,
          .gradient = gradient(),
          .differentiable = differentiable};
}

// Of the inputs from `first` on, every `step`th one, along the axis of attribute "axis".
OpRule concatenation(std::size_t first, std::size_t step) {
  const AxesRule axes = kept_axes(mixes_along(0), SIZE_MAX);
  const auto shape = [=](const OpReader& op) -> TensorTypes {
    Shape all = op.in(first);
    const int axis = op.axis("axis", 0, all.size());
    if (axis < 0 || axis >= static_cast<int>(all.size())) return {};
    for (std::size_t i = first + step; i < op.input_count(); i += step)
      all[static_cast<std::size_t>(axis)] += extent(op.in(i), axis);
    return {{op.input(first).type, std::move(all)}};
  };
  OpRule rule = movement(side_by_side(0, first, step), axes, shape, all_inputs);
  rule.min_inputs = first + 1;
  return rule;
}

OpRule partial_read(AxesRule axes, ShapeRule shape = nullptr) {
  OpRule rule = movement(batch_kept(), std::move(axes), std::move(shape));
  rule.lookups = inputs({0});
  return rule;
}

// Of ONNX's first op set: what is left of images without so many columns and rows at the left, top,
// right and bottom; or so many rows and columns from a place on.
TensorTypes cropped_shape(const OpReader& op) {
  Shape shape = op.in(0);
  const auto border = op->integers("border"), scale = op->integers("scale");
  if (shape.size() != 4 || border.size() < (scale.empty() ? 4U : 2U)) return {};
  shape[2] = scale.size() == 2 ? scale[0] : shape[2] - border[1] - border[3];
  shape[3] = scale.size() == 2 ? scale[1] : shape[3] - border[0] - border[2];
  return typed_like_first(op, shape);
}

OpRule cropping() { return partial_read(same_extents(), cropped_shape); }

OpRule interpolation() {
  OpRule rule =
      movement(batch_kept(), same_extents([](const OpReader&, int axis) { return axis >= 2; }),
               resized_shape);
  rule.flops = per_element(8);  // a weighted mean of four
  return rule;
}

// ---- indexing

// out = data[:axis] + indices + data[axis + 1:]
std::optional<AxisLetters> gathered_axes(const OpReader& op) {
  const std::size_t rank = op.in(0).size(), indices = op.in(1).size();
  const int axis = op.axis("axis", 0, rank);
  if (axis < 0 || axis >= static_cast<int>(rank) || rank + indices > AxisLetters::kMostAxes)
    return std::nullopt;
  const std::string all = letters_of(rank + indices), data = all.substr(0, rank);
  const auto at = static_cast<std::size_t>(axis);
  AxisLetters result = all_mixed(op);
  result.inputs[0] = data;
  result.inputs[0][at] = AxisLetters::kMixed;
  if (op.has_input(1)) result.inputs[1] = all.substr(rank);
  set_outputs(result, data.substr(0, at) + all.substr(rank) + data.substr(at + 1));
  return result;
}

BatchAnswer gathered_nd_batch(BatchFlow& flow) {
  const int data = flow.axis(0), indices = flow.axis(1);
  const auto shared = static_cast<int>(flow.op->integer("batch_dims", 0));
  const int index_rank = static_cast<int>(flow.op.in(1).size());
  if (data >= 0 && data == indices && data < shared) return flow.on(data);
  return flow.on_if(data < 0 && indices >= 0 && indices < index_rank - 1, indices);
}

OpRule lookup(OpFamily family, ShapeRule shape, BatchRule batch) {
  return {.family = family,
          .min_inputs = 2,
          .shape = std::move(shape),
          .batch = std::move(batch),
          .linear = Linearity::First,
          .gradient = gradient({x(1)}),
          .lookups = inputs({0})};
}

// data, indices, updates
OpRule scatter(BatchRule batch) {
  return {.family = OpFamily::DataMovement,
          .min_inputs = 3,
          .batch = std::move(batch),
          .gradient = gradients(
              {{"GradData", "grad_data", 0, {x(1)}}, {"GradUpdates", "grad_updates", 2, {x(1)}}}),
          .differentiable = inputs({0, 2})};
}

OpRule selection(std::size_t min_inputs, BatchRule batch, GradientRule gradient_rule,
                 ShapeRule shape = nullptr) {
  return {.family = OpFamily::DataMovement,
          .min_inputs = min_inputs,
          .shape = std::move(shape),
          .flops = per_input_element(1),
          .batch = std::move(batch),
          .gradient = std::move(gradient_rule)};
}

// As many along the axis as the second input says: the values, and where they stood.
TensorTypes top_shape(const OpReader& op) {
  const auto count = op.list("k", 1);
  const int axis = op.axis("axis", -1, op.in(0).size());
  if (!count || count->size() != 1 || axis < 0 || axis >= static_cast<int>(op.in(0).size()))
    return {};
  Shape shape = op.in(0);
  std::int64_t& kept = shape[static_cast<std::size_t>(axis)];
  if (count->front() < 0 || count->front() > kept) return {};
  kept = count->front();
  return {{op.input(0).type, shape}, {DataType::I64, shape}};
}

// indices, depth, values: an axis more, as long as the depth says.
TensorTypes one_hot_shape(const OpReader& op) {
  const auto depth = op.constant(1);
  Shape shape = op.in(0);
  const int axis = op.axis("axis", -1, shape.size() + 1);
  const bool within = axis >= 0 && axis <= static_cast<int>(shape.size());
  if (!depth || depth->size() != 1 || depth->front() < 0 || !within) return {};
  shape.insert(shape.begin() + axis, depth->front());
  return {{op.input(2).type, shape}};
}

BatchAnswer one_hot_batch(BatchFlow& flow) {
  const int axis = flow.axis(0), added = flow.op.axis("axis", -1, flow.op.in(0).size() + 1);
  return flow.on_if(axis >= 0, axis < added ? axis : axis + 1);
}

// A column of places for each element that is not zero: at most for all.
TensorTypes non_zero_shape(const OpReader& op) {
  const auto elements = static_cast<std::int64_t>(product(op.in(0)));
  return {{DataType::I64, {std::ssize(op.in(0)), elements}}};
}

}  // namespace

OpRules layout_rules() {
  return {
      {{"Flatten"}, view(flattened, gradient())},
      {{"Reshape"}, view(reshaped, gradient())},
      {{"Squeeze"}, view(squeezed, gradient())},
      {{"Unsqueeze"}, view(unsqueezed, gradient())},
      {{"Identity", "NoOp"}, view(nullptr, passed_gradient)},

      {{"Concat"}, concatenation(0, 1)},
      // The result's scale and zero point, then (x, scale, zero point) for each operand.
      {{"QLinearConcat"}, quantized(concatenation(2, 3))},
      {{"DepthToSpace", "SpaceToDepth"}, movement(batch_kept(mixes_all_but_first))},
      {{"Expand"}, movement(expanded_batch, expanded_axes, expanded_shape)},
      {{"Pad"}, movement(batch_kept(), padded_axes, padded_shape)},
      {{"Tile"}, movement(batch_kept(), same_extents())},
      {{"Split"}, keeping_axes(movement(nullptr, nullptr, split_shape), mixes_along(0))},
      {{"Transpose"}, lettered(movement(nullptr), transposed_axes)},
      {{"Trilu"}, keeping_axes(movement(nullptr), mixes_last_two)},
      {{"CenterCropPad"}, partial_read(nullptr, center_cropped_shape)},
      {{"Crop"}, cropping()},
      {{"Slice"}, partial_read(sliced_axes)},
      {{"Resize", "Upsample"}, interpolation()},
      // Made from a shape or from nothing.
      {{"BlackmanWindow", "Constant", "ConstantOfShape", "EyeLike", "HammingWindow", "HannWindow",
        "MelWeightMatrix", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform",
        "RandomUniformLike", "Range", "Shape", "Size"},
       {.family = OpFamily::DataMovement, .min_inputs = 0, .unread = all_inputs}},

      {{"Gather"}, lettered(lookup(OpFamily::Embedding, nullptr, nullptr), gathered_axes)},
      {{"GatherElements"},
       lookup(
           OpFamily::DataMovement,
           [](const OpReader& op) { return typed_like_first(op, op.in(1)); }, side_by_side(0))},
      {{"GatherND"}, lookup(OpFamily::DataMovement, nullptr, gathered_nd_batch)},
      {{"Scatter", "ScatterElements"}, scatter(side_by_side(0))},
      {{"ScatterND"}, scatter(nullptr)},
      {{"Compress"}, selection(2, nullptr, gradient({x(1)}))},
      {{"NonMaxSuppression"}, selection(2, nullptr, nullptr)},
      {{"NonZero"}, selection(1, nullptr, nullptr, non_zero_shape)},
      {{"OneHot"}, selection(3, one_hot_batch, nullptr, one_hot_shape)},
      {{"ReverseSequence"}, selection(2, side_by_side(-1), gradient({x(1)}))},
      {{"TopK"}, keeping_axes(selection(1, nullptr, gradient({y(1)}), top_shape), mixes_along(-1))},
      {{"Unique"}, selection(1, nullptr, nullptr)},
  };
}

}  // namespace strato
