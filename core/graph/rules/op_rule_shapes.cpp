#include <algorithm>

#include "core/graph/rules/op_rule.h"

namespace strato {
namespace {

std::int64_t value_at(const std::vector<std::int64_t>& values, std::size_t i,
                      std::int64_t fallback) {
  return i < values.size() ? values[i] : fallback;
}

// One spatial axis of a sliding window (ONNX Conv, pooling).
struct Window {
  Window(const OpReader& op, std::size_t axis, std::size_t spatial_rank, std::int64_t kernel)
      : stride(std::max<std::int64_t>(1, value_at(op->integers("strides"), axis, 1))),
        reach(value_at(op->integers("dilations"), axis, 1) * (kernel - 1) + 1),
        padding(value_at(op->integers("pads"), axis, 0) +
                value_at(op->integers("pads"), axis + spatial_rank, 0)) {}
  std::int64_t stride, reach, padding;  // the padding of both sides
};

std::int64_t windowed(const OpReader& op, std::int64_t extent, const Window& window) {
  const std::string padding = op->text("auto_pad", "NOTSET");
  if (padding.starts_with("SAME")) return (extent + window.stride - 1) / window.stride;
  const std::int64_t room = extent + (padding == "NOTSET" ? window.padding : 0) - window.reach;
  const std::int64_t round_up = op->integer("ceil_mode", 0) ? window.stride - 1 : 0;
  return std::max<std::int64_t>(0, (room + round_up) / window.stride + 1);
}

// `channels`, then every spatial axis of the first input through `f(axis, extent)`.
template <class F>
TensorTypes spatial(const OpReader& op, std::int64_t channels, F f) {
  Shape shape = {extent(op.in(0), 0), channels};
  for (std::size_t i = 2; i < op.in(0).size(); ++i) shape.push_back(f(i - 2, op.in(0)[i]));
  return typed_like_first(op, std::move(shape));
}

// Of axis i of a convolution with this filter.
Window filter_window(const OpReader& op, std::size_t filter, std::size_t i) {
  return {op, i, op.in(0).size() - 2, extent(op.in(filter), static_cast<std::int64_t>(i) + 2)};
}

}  // namespace

TensorTypes typed_like_first(const OpReader& op, Shape shape) {
  return {{op.input(0).type, std::move(shape)}};
}

TensorTypes shape_broadcast(const OpReader& op) {
  Shape shape;
  for (std::size_t i = 0; i < op.input_count(); ++i) shape = broadcast_shape(shape, op.in(i));
  return typed_like_first(op, shape);
}

TensorTypes shape_by(const std::optional<AxisLetters>& letters, const OpReader& op) {
  if (!letters || letters->outputs[0].find(AxisLetters::kMixed) != std::string::npos) return {};
  Shape shape;
  for (const char letter : letters->outputs[0])
    shape.push_back(letter_extent(op, *letters, letter));
  return typed_like_first(op, std::move(shape));
}

TensorTypes shape_convolution(const OpReader& op, std::size_t filter) {
  return spatial(op, extent(op.in(filter), 0), [&](std::size_t i, std::int64_t size) {
    return windowed(op, size, filter_window(op, filter, i));
  });
}

TensorTypes shape_transposed_convolution(const OpReader& op) {
  const auto wanted = op->integers("output_shape"), extra = op->integers("output_padding");
  const std::int64_t channels = extent(op.in(1), 1) * op->integer("group", 1);
  return spatial(op, channels, [&](std::size_t i, std::int64_t size) {
    if (i < wanted.size()) return wanted[i];
    const Window window = filter_window(op, 1, i);
    return window.stride * (size - 1) + value_at(extra, i, 0) + window.reach - window.padding;
  });
}

TensorTypes shape_pool(const OpReader& op) {
  const auto kernel = op->integers("kernel_shape");
  TensorTypes types = spatial(op, extent(op.in(0), 1), [&](std::size_t i, std::int64_t size) {
    return windowed(op, size, Window(op, i, kernel.size(), value_at(kernel, i, 1)));
  });
  types.push_back({DataType::I64, types[0].shape});
  return types;
}

TensorTypes shape_global_pool(const OpReader& op) {
  return spatial(op, extent(op.in(0), 1), [](std::size_t, std::int64_t) { return 1; });
}

std::int64_t added(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? -1 : sum;
}

std::int64_t multiplied(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  return __builtin_mul_overflow(a, b, &result) ? -1 : result;
}

}  // namespace strato
