#include <algorithm>
#include <cmath>

#include "core/graph/ops/layout_rules.h"

namespace strato {
namespace {

// x [samples, channels, ...], places [samples, ..., dimensions]
OpRule grid_sample() {
  return {.min_inputs = 2,
          .shape =
              [](const OpReader& op) {
                Shape shape = {extent(op.in(0), 0), extent(op.in(0), 1)};
                for (std::size_t i = 1; i + 1 < op.in(1).size(); ++i) shape.push_back(op.in(1)[i]);
                return typed_like_first(op, std::move(shape));
              },
          .flops = per_element(10),
          .batch = samples_first(inputs({1})),
          .gradient = gradient({x(0), x(1)}),
          .differentiable = inputs({0, 1})};
}

// theta [samples, d, d + 1], size: a place for each element of the size.
OpRule affine_grid() {
  return {.min_inputs = 2,
          .shape = [](const OpReader& op) -> TensorTypes {
            const auto size = op.constant(1);
            if (!size || size->size() < 3) return {};
            Shape shape = {(*size)[0]};
            shape.insert(shape.end(), size->begin() + 2, size->end());
            shape.push_back(std::ssize(*size) - 2);
            return typed_like_first(op, std::move(shape));
          },
          .flops = per_element(6),
          .batch = batch_kept(mixes_all_but_first),
          .gradient = gradient()};
}

TensorTypes unpooled_shape(const OpReader& op) {
  if (const auto wanted = op.constant(2)) return typed_like_first(op, *wanted);
  const auto kernel = op->integers("kernel_shape"), strides = op->integers("strides"),
             pads = op->integers("pads");
  Shape shape = op.in(0);
  if (shape.size() != kernel.size() + 2) return {};
  for (std::size_t i = 0; i < kernel.size(); ++i) {
    const std::int64_t stride = i < strides.size() ? strides[i] : 1;
    const bool padded = pads.size() == 2 * kernel.size();
    const std::int64_t pad = padded ? added(pads[i], pads[i + kernel.size()]) : 0;
    const std::int64_t steps = std::max<std::int64_t>(shape[i + 2] - 1, 0);
    const std::int64_t moved = multiplied(steps, stride);
    const std::int64_t whole = added(moved, kernel[i]);
    const bool plausible = stride >= 1 && kernel[i] >= 1 && pad >= 0;
    if (!plausible || moved < 0 || whole <= pad) return {};
    shape[i + 2] = whole - pad;
  }
  return typed_like_first(op, std::move(shape));
}

// [samples, channels x block, blocks] to [samples, channels, ...image]
OpRule blocks_to_image() {
  return {.family = OpFamily::DataMovement,
          .min_inputs = 3,
          .shape = [](const OpReader& op) -> TensorTypes {
            const auto image = op.constant(1), block = op.constant(2);
            if (!image || !block) return {};
            const double elements = product(*block);
            if (elements < 1 || elements > 4e18) return {};
            Shape shape = {extent(op.in(0), 0),
                           extent(op.in(0), 1) / static_cast<std::int64_t>(elements)};
            shape.insert(shape.end(), image->begin(), image->end());
            return typed_like_first(op, std::move(shape));
          },
          .flops = per_input_element(1),
          .batch = batch_kept(mixes_all_but_first),
          .gradient = gradient()};
}

double transform_flops(double elements, std::int64_t length) {
  return 5 * elements *
         std::max(1.0, std::log2(static_cast<double>(std::max<std::int64_t>(length, 1))));
}

// The first number of a constant input, if it has one.
std::optional<std::int64_t> number(const OpReader& op, std::size_t input) {
  const auto given = op.constant(input);
  return given && !given->empty() ? std::optional(given->front()) : std::nullopt;
}

std::int64_t transform_axis(const OpReader& op) {  // an input of op set 20 and later
  return number(op, 2).value_or(op->integer("axis", 1));
}

// x [samples, ..., 1 or 2]; complex numbers come out
OpRule fourier_transform() {
  const auto flops = [](const OpReader& op) {
    return transform_flops(op.elements(), extent(op.in(0), transform_axis(op)));
  };
  return {.shape = [](const OpReader& op) -> TensorTypes {
            Shape shape = op.in(0);
            const int axis = wrap_axis(transform_axis(op), shape.size());
            if (shape.size() < 2 || axis < 0 || axis + 1 >= static_cast<int>(shape.size()))
              return {};
            std::int64_t& length = shape[static_cast<std::size_t>(axis)];
            length = number(op, 1).value_or(length);
            if (op->integer("onesided", 0) != 0) length = length / 2 + 1;
            shape.back() = 2;
            return typed_like_first(op, std::move(shape));
          },
          .flops = flops,
          .batch = batch_kept([](const OpReader& op, int axis) {
            return axis == wrap_axis(transform_axis(op), op.in(0).size());
          }),
          .gradient = gradient()};
}

// x [samples, length, 1 or 2], step, window, frame length
std::int64_t frame_length(const OpReader& op) {
  return number(op, 3).value_or(extent(op.in(2), 0));
}

OpRule short_time_transform() {
  const auto flops = [](const OpReader& op) {
    return transform_flops(op.elements(), frame_length(op));
  };
  return {.min_inputs = 2,
          .shape = [](const OpReader& op) -> TensorTypes {
            const std::int64_t step = number(op, 1).value_or(0), length = frame_length(op);
            if (op.in(0).size() < 2 || step < 1 || length < 1) return {};
            const std::int64_t room = std::max<std::int64_t>(0, extent(op.in(0), 1) - length);
            const bool half = op->integer("onesided", 1) != 0;
            return typed_like_first(
                op, {extent(op.in(0), 0), room / step + 1, half ? length / 2 + 1 : length, 2});
          },
          .flops = flops,
          .batch = batch_kept(mixes_all_but_first),
          .gradient = gradient({x(2)})};
}

OpRule determinant() {
  return {.shape = [](const OpReader& op) -> TensorTypes {
            const Shape& in = op.in(0);
            if (in.size() < 2) return {};
            return typed_like_first(op, Shape(in.begin(), in.end() - 2));
          },
          .flops =
              [](const OpReader& op) {
                return product(op.in(0)) * static_cast<double>(extent(op.in(0), -1));
              },
          .batch = batch_kept(mixes_last_two),
          .gradient = gradient({x(0), y(0)})};
}

}  // namespace

OpRules sampling_rules() {
  return {
      {{"AffineGrid"}, affine_grid()},
      {{"Col2Im"}, blocks_to_image()},
      {{"DFT"}, fourier_transform()},
      {{"Det"}, determinant()},
      {{"GridSample"}, grid_sample()},
      {{"MaxUnpool"},
       {.family = OpFamily::DataMovement,
        .min_inputs = 2,
        .shape = unpooled_shape,
        .batch = samples_first(inputs({1})),
        .gradient = gradient({x(1)})}},
      {{"STFT"}, short_time_transform()},
  };
}

}  // namespace strato
