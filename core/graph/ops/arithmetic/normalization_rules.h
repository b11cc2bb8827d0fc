// Normalisations and softmax. Statistics of a batch normalisation are per replica, as frameworks
// do; so it is splittable. FLOPs per element count the passes over the data: mean, variance, scale
// and shift.
#pragma once

#include "core/graph/rules/op_rule.h"

namespace strato {

OpRules normalization_rules();

}  // namespace strato
