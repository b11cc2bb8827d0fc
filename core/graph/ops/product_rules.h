// Products of matrices and convolutions, also of quantised numbers (ONNX's QLinear... and
// com.microsoft's), which are for inference: there nothing is differentiable but what comes after a
// product with stored weights. A multiply-add counts two FLOPs; a bias rides along in the kernel
// and counts none. Convolutions have the samples on axis 0; weights are [out, in / groups,
// window...] (transposed: [in, out / groups, window...]).
#pragma once

#include "core/graph/rules/op_rule.h"

namespace strato {

OpRules product_rules();

}  // namespace strato
