// Elementwise functions and reductions. FLOPs per element: 1 for what is one instruction, about 10
// for transcendental functions; memory bounds them all. Linear reductions (and sums of a function
// of each element) over the batch give Partial.
#pragma once

#include "core/graph/rules/op_rule.h"

namespace strato {

OpRules elementwise_rules();

}  // namespace strato
