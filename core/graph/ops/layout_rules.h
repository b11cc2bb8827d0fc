// Ops that move elements without computing, or little: views (other shapes of the same bytes, no
// work, no memory; their gradients are views too), moves, reading and writing by index, and ops
// that make tensors from shapes.
#pragma once

#include "core/graph/rules/op_rule.h"

namespace strato {

OpRules layout_rules();
OpRules sampling_rules();  // at places that other tensors give; signals and determinants

}  // namespace strato
