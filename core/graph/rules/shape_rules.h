// Shape rules that several families of the op catalogue share; they serve where ONNX shape
// inference has no answer, and graphs that are built by hand. Thread-safe, no state.
#pragma once

#include <cstdint>
#include <vector>

#include "core/graph/rules/op_rule.h"

namespace strato {

// One output of this shape, with the first input's type.
TensorTypes typed_like_first(const OpReader& op, Shape shape);

TensorTypes shape_broadcast(const OpReader& op);
TensorTypes shape_convolution(const OpReader& op, std::size_t filter);  // which input it is
TensorTypes shape_transposed_convolution(const OpReader& op);
TensorTypes shape_pool(const OpReader& op);
TensorTypes shape_global_pool(const OpReader& op);

// The extents without these (ascending) axes, or with 1 in their place.
Shape without(const Shape& shape, const std::vector<int>& axes, bool keep);

// These compute extents from attributes that files give: -1, which is no extent, where 64 bits do
// not hold them.
std::int64_t added(std::int64_t a, std::int64_t b);
std::int64_t multiplied(std::int64_t a, std::int64_t b);
std::int64_t as_extent(double whole_number);

}  // namespace strato
