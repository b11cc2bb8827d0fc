// Reductions over axes. Linear ones (and sums of a function of each element) over the batch give
// Partial.
#pragma once

#include "core/graph/rules/op_rule.h"

namespace strato {

OpRules reduction_rules();

}  // namespace strato
