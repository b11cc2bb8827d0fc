// Ops that move elements without computing, and ops that make tensors from shapes.
#pragma once

#include "core/graph/rules/op_rule.h"

namespace strato {

OpRules movement_rules();

}  // namespace strato
