// The op catalogue: all that the program knows about an op type, one rule each, in tables by family
// (the other files here). ONNX operators under their ONNX names, our own losses and
// updates; gradient ops ("ConvGradWeight") derive their rule from their forward op's. Source: the
// ONNX operator reference (op sets 1 to 21) and, for what gradients read, the cuDNN and PyTorch
// kernels. Thread-safe, no state.
#pragma once

#include <string>
#include <string_view>

#include "core/graph/rules/op_rule.h"

namespace strato {

// The rule for a forward, loss or update op type, or null.
const OpRule* find_rule(std::string_view type);
// The same with the generic rule for types unknown.
const OpRule& rule_of(std::string_view type);

// Types of `op`'s outputs by the catalogue alone, from its inputs in `tensors` (its outputs are not
// read): for importers, where ONNX's own inference has no answer. Empty when they cannot be told.
// May hold more entries than the op has outputs.
TensorTypes infer_output_shapes(const Op& op, const IdVector<TensorId, Tensor>& tensors);

// Fills family, view, estimated and work. Ops before this one and all batch layouts are final.
// Throws InputError (naming `file`) when the op has fewer inputs than its type needs.
void describe(Op& op, const IdVector<OpId, Op>& ops, const IdVector<TensorId, Tensor>& tensors,
              const std::string& file);

}  // namespace strato
