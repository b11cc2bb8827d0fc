// The shape rules that the catalogue's tables are made of; they serve where ONNX shape inference
// has no answer, and graphs that are built by hand.
#pragma once

#include "core/graph/rules/op_rule.h"

namespace strato {

using TensorTypes = std::vector<TensorType>;

TensorTypes shape_like_first(const OpReader& op);
TensorTypes shape_broadcast(const OpReader& op);
TensorTypes shape_broadcast_bool(const OpReader& op);  // comparisons
TensorTypes shape_scalar(const OpReader& op);
TensorTypes shape_matmul(const OpReader& op);
TensorTypes shape_gemm(const OpReader& op);
TensorTypes shape_convolution(const OpReader& op);
TensorTypes shape_convolution_by(const OpReader& op, std::size_t filter);  // which input it is
TensorTypes shape_transposed_convolution(const OpReader& op);
TensorTypes shape_pool(const OpReader& op);
TensorTypes shape_global_pool(const OpReader& op);
TensorTypes shape_reduced(const OpReader& op);
TensorTypes shape_arg_reduced(const OpReader& op);
TensorTypes shape_reshaped(const OpReader& op);
TensorTypes shape_flattened(const OpReader& op);
TensorTypes shape_squeezed(const OpReader& op);
TensorTypes shape_unsqueezed(const OpReader& op);
TensorTypes shape_transposed(const OpReader& op);
TensorTypes shape_concatenated(const OpReader& op);
TensorTypes shape_gathered(const OpReader& op);
TensorTypes shape_like_second(const OpReader& op);
TensorTypes shape_expanded(const OpReader& op);
TensorTypes shape_recurrent(const OpReader& op);

}  // namespace strato
