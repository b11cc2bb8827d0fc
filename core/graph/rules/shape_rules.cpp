#include "core/graph/rules/shape_rules.h"

#include <algorithm>

#include "core/graph/rules/batch_rules.h"

namespace strato {
namespace {

TensorTypes one(const OpReader& op, Shape shape) { return {{op.input(0).type, std::move(shape)}}; }

std::int64_t value_at(const std::vector<std::int64_t>& values, std::size_t i,
                      std::int64_t fallback) {
  return i < values.size() ? values[i] : fallback;
}

// One spatial axis of a sliding window (ONNX Conv, pooling).
struct Window {
  std::int64_t kernel, stride, dilation, pad_begin, pad_end;
  std::int64_t reach() const { return dilation * (kernel - 1) + 1; }
};

Window window_of(const OpReader& op, std::size_t axis, std::size_t spatial_rank,
                 std::int64_t kernel) {
  const auto pads = op->integers("pads");
  return {kernel, std::max<std::int64_t>(1, value_at(op->integers("strides"), axis, 1)),
          value_at(op->integers("dilations"), axis, 1), value_at(pads, axis, 0),
          value_at(pads, axis + spatial_rank, 0)};
}

std::int64_t windowed(const OpReader& op, std::int64_t extent, const Window& window) {
  const std::string padding = op->text("auto_pad", "NOTSET");
  if (padding.starts_with("SAME")) return (extent + window.stride - 1) / window.stride;
  const bool padded = padding == "NOTSET";
  const std::int64_t total = padded ? window.pad_begin + window.pad_end : 0;
  const std::int64_t room = extent + total - window.reach();
  const std::int64_t round_up = op->integer("ceil_mode", 0) ? window.stride - 1 : 0;
  return std::max<std::int64_t>(0, (room + round_up) / window.stride + 1);
}

// `channels`, then every spatial axis of the first input through `f(axis, extent)`.
template <class F>
Shape spatial(const OpReader& op, std::int64_t channels, F f) {
  Shape shape = {extent(op.in(0), 0), channels};
  for (std::size_t i = 2; i < op.in(0).size(); ++i) shape.push_back(f(i - 2, op.in(0)[i]));
  return shape;
}

Shape without(const Shape& shape, const std::vector<int>& axes, bool keep) {
  Shape result;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (!std::binary_search(axes.begin(), axes.end(), static_cast<int>(i))) {
      result.push_back(shape[i]);
    } else if (keep) {
      result.push_back(1);
    }
  }
  return result;
}

}  // namespace

TensorTypes shape_like_first(const OpReader& op) { return one(op, op.in(0)); }
TensorTypes shape_scalar(const OpReader& op) { return one(op, {}); }
TensorTypes shape_like_second(const OpReader& op) { return one(op, op.in(1)); }

TensorTypes shape_broadcast(const OpReader& op) {
  Shape shape;
  for (std::size_t i = 0; i < op.input_count(); ++i) shape = broadcast_shape(shape, op.in(i));
  const bool is_where = op->type == "Where";
  return {{op.input(is_where ? 1 : 0).type, shape}};
}

TensorTypes shape_broadcast_bool(const OpReader& op) {
  return {{DataType::Bool, shape_broadcast(op)[0].shape}};
}

TensorTypes shape_matmul(const OpReader& op) {
  const Shape &a = op.in(0), &b = op.in(1);
  if (a.empty() || b.empty()) return {};
  const Shape outer_a(a.begin(), a.end() - std::min<long>(2, static_cast<long>(a.size())));
  const Shape outer_b(b.begin(), b.end() - std::min<long>(2, static_cast<long>(b.size())));
  Shape shape = broadcast_shape(outer_a, outer_b);
  if (a.size() >= 2) shape.push_back(a[a.size() - 2]);
  if (b.size() >= 2) shape.push_back(b.back());
  return one(op, shape);
}

TensorTypes shape_gemm(const OpReader& op) {
  return one(op, {extent(op.in(0), op->integer("transA", 0) ? 1 : 0),
                  extent(op.in(1), op->integer("transB", 0) ? 0 : 1)});
}

TensorTypes shape_convolution(const OpReader& op) { return shape_convolution_by(op, 1); }

TensorTypes shape_convolution_by(const OpReader& op, std::size_t filter) {
  const std::size_t spatial_rank = op.in(0).size() < 2 ? 0 : op.in(0).size() - 2;
  return one(op, spatial(op, extent(op.in(filter), 0), [&](std::size_t i, std::int64_t size) {
               const auto kernel = extent(op.in(filter), static_cast<std::int64_t>(i) + 2);
               return windowed(op, size, window_of(op, i, spatial_rank, kernel));
             }));
}

TensorTypes shape_transposed_convolution(const OpReader& op) {
  const std::size_t spatial_rank = op.in(0).size() < 2 ? 0 : op.in(0).size() - 2;
  const auto wanted = op->integers("output_shape"), extra = op->integers("output_padding");
  const std::int64_t channels = extent(op.in(1), 1) * op->integer("group", 1);
  return one(op, spatial(op, channels, [&](std::size_t i, std::int64_t size) {
               if (i < wanted.size()) return wanted[i];
               const auto kernel = extent(op.in(1), static_cast<std::int64_t>(i) + 2);
               const Window window = window_of(op, i, spatial_rank, kernel);
               return window.stride * (size - 1) + value_at(extra, i, 0) + window.reach() -
                      window.pad_begin - window.pad_end;
             }));
}

TensorTypes shape_pool(const OpReader& op) {
  const auto kernel = op->integers("kernel_shape");
  const std::size_t spatial_rank = kernel.size();
  const Shape shape = spatial(op, extent(op.in(0), 1), [&](std::size_t i, std::int64_t size) {
    return windowed(op, size, window_of(op, i, spatial_rank, value_at(kernel, i, 1)));
  });
  return {{op.input(0).type, shape}, {DataType::I64, shape}};
}

TensorTypes shape_global_pool(const OpReader& op) {
  return one(op, spatial(op, extent(op.in(0), 1),
                         [](std::size_t, std::int64_t) { return std::int64_t{1}; }));
}

TensorTypes shape_reduced(const OpReader& op) {
  if (op.has_input(1) && !op.constant(1)) return {};
  return one(op, without(op.in(0), reduced_axes(op), op->integer("keepdims", 1) != 0));
}

TensorTypes shape_arg_reduced(const OpReader& op) {
  const int axis = op.axis("axis", 0, op.in(0).size());
  return {{DataType::I64, without(op.in(0), {axis}, op->integer("keepdims", 1) != 0)}};
}

TensorTypes shape_reshaped(const OpReader& op) {
  auto shape = op.list("shape", 1);
  if (!shape) return {};
  double known = 1;
  std::int64_t* open = nullptr;
  for (std::size_t i = 0; i < shape->size(); ++i) {
    std::int64_t& size = (*shape)[i];
    if (size == 0 && op->integer("allowzero", 0) == 0) {
      size = extent(op.in(0), static_cast<std::int64_t>(i));
    }
    if (size == -1) {
      open = &size;
    } else {
      known *= static_cast<double>(size);
    }
  }
  if (open) *open = known > 0 ? static_cast<std::int64_t>(product(op.in(0)) / known) : 0;
  return one(op, *shape);
}

TensorTypes shape_flattened(const OpReader& op) {
  const auto axis = static_cast<std::size_t>(std::max(0, op.axis("axis", 1, op.in(0).size())));
  return one(op, {static_cast<std::int64_t>(product(op.in(0), 0, axis)),
                  static_cast<std::int64_t>(product(op.in(0), axis))});
}

TensorTypes shape_squeezed(const OpReader& op) {
  if (op.has_input(1) && !op.constant(1)) return {};
  const auto axes = op.list("axes", 1).value_or(std::vector<std::int64_t>{});
  std::vector<int> dropped;
  for (std::size_t i = 0; i < op.in(0).size(); ++i) {
    const bool named = std::any_of(axes.begin(), axes.end(), [&](std::int64_t axis) {
      return wrap_axis(axis, op.in(0).size()) == static_cast<int>(i);
    });
    if (axes.empty() ? op.in(0)[i] == 1 : named) dropped.push_back(static_cast<int>(i));
  }
  return one(op, without(op.in(0), dropped, false));
}

TensorTypes shape_unsqueezed(const OpReader& op) {
  const auto axes = op.list("axes", 1);
  if (!axes) return {};
  const std::size_t rank = op.in(0).size() + axes->size();
  std::vector<bool> added(rank, false);
  for (const std::int64_t axis : *axes) {
    const int at = wrap_axis(axis, rank);
    if (at >= 0 && at < static_cast<int>(rank)) added[static_cast<std::size_t>(at)] = true;
  }
  Shape shape;
  std::size_t next = 0;
  for (std::size_t i = 0; i < rank; ++i) {
    shape.push_back(added[i] || next >= op.in(0).size() ? 1 : op.in(0)[next++]);
  }
  return one(op, shape);
}

TensorTypes shape_transposed(const OpReader& op) {
  const auto permutation = op->integers("perm");
  Shape shape(op.in(0).rbegin(), op.in(0).rend());
  for (std::size_t i = 0; i < permutation.size() && i < shape.size(); ++i) {
    shape[i] = extent(op.in(0), permutation[i]);
  }
  return one(op, shape);
}

TensorTypes shape_concatenated(const OpReader& op) {
  Shape shape = op.in(0);
  const int axis = op.axis("axis", 0, shape.size());
  if (axis < 0 || axis >= static_cast<int>(shape.size())) return {};
  for (std::size_t i = 1; i < op.input_count(); ++i) {
    shape[static_cast<std::size_t>(axis)] += extent(op.in(i), axis);
  }
  return one(op, shape);
}

TensorTypes shape_gathered(const OpReader& op) {
  Shape shape = op.in(0);
  const int axis = op.axis("axis", 0, shape.size());
  if (axis < 0 || axis >= static_cast<int>(shape.size())) return {};
  shape.erase(shape.begin() + axis);
  shape.insert(shape.begin() + axis, op.in(1).begin(), op.in(1).end());
  return one(op, shape);
}

TensorTypes shape_expanded(const OpReader& op) {
  const auto shape = op.list("shape", 1);
  return shape ? one(op, broadcast_shape(op.in(0), *shape)) : TensorTypes{};
}

// LSTM, GRU, RNN: Y, Y_h and (LSTM) Y_c; "layout" 0 is [time, directions, batch, hidden].
TensorTypes shape_recurrent(const OpReader& op) {
  const bool batch_first = op->integer("layout", 0) != 0;
  const std::int64_t time = extent(op.in(0), batch_first ? 1 : 0);
  const std::int64_t batch = extent(op.in(0), batch_first ? 0 : 1);
  const std::int64_t directions = extent(op.in(1), 0), hidden = extent(op.in(2), 2);
  const Shape all =
      batch_first ? Shape{batch, time, directions, hidden} : Shape{time, directions, batch, hidden};
  const Shape last =
      batch_first ? Shape{batch, directions, hidden} : Shape{directions, batch, hidden};
  const DataType type = op.input(0).type;
  return {{type, all}, {type, last}, {type, last}};
}

}  // namespace strato
