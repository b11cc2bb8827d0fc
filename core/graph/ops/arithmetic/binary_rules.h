// Elementwise functions of two and more tensors, with numpy's broadcasting.
#pragma once

#include "core/graph/rules/op_rule.h"

namespace strato {

OpRules binary_rules();

}  // namespace strato
