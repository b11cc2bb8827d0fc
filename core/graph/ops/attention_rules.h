// Attention as one fused op, and what stands beside it in transformers that were rewritten for
// inference: ONNX's own ops (op sets 23 and 24) and those of com.microsoft, which exporters and
// graph optimizers write. FLOPs count the two products and the softmax between, of all positions,
// hidden ones too.
#pragma once

#include "core/graph/rules/op_rule.h"

namespace strato {

OpRules attention_rules();

}  // namespace strato
