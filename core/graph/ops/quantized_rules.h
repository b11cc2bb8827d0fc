// Ops on quantised numbers (ONNX's QLinear... and com.microsoft's): the work of what they stand
// for. They are for inference: nothing is differentiable but what comes after a product with stored
// weights. Where each tensor has a scale and a zero point beside it, the second operand is input 3.
#pragma once

#include "core/graph/rules/op_rule.h"

namespace strato {

OpRules quantized_rules();

}  // namespace strato
