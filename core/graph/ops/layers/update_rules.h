// Optimizer updates. Inputs: parameter, gradient, state tensors; all but the gradient are written
// in place. Never splittable: they need the whole gradient (TAG 4.1.1). FLOPs per element count the
// textbook formula.
#pragma once

#include "core/graph/rules/op_rule.h"

namespace strato {

OpRules update_rules();

}  // namespace strato
