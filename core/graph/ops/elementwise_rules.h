// Elementwise functions. FLOPs per element: 1 for what is one instruction, about 10 for
// transcendental functions; memory bounds them all.
#pragma once

#include "core/graph/rules/op_rule.h"

namespace strato {

OpRules elementwise_rules();

}  // namespace strato
