// Products of matrices and convolutions, and attention. A multiply-add counts two FLOPs.
#pragma once

#include "core/graph/rules/op_rule.h"

namespace strato {

// Also of quantised numbers (ONNX's QLinear... and com.microsoft's), which are for inference: there
// nothing is differentiable but what comes after a product with stored weights. A bias rides along
// in the kernel and counts no FLOPs. Convolutions have the samples on axis 0; weights are [out, in
// / groups, window...] (transposed: [in, out / groups, window...]).
OpRules product_rules();

// Attention as one fused op, and what stands beside it in transformers that were rewritten for
// inference: ONNX's own ops (op sets 23 and 24) and those of com.microsoft, which exporters and
// graph optimizers write. FLOPs count the two products and the softmax between, of all positions,
// hidden ones too; but of ONNX's causal attention only those that a query looks at.
OpRules attention_rules();

}  // namespace strato
