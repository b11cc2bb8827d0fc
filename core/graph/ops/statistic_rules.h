// Normalisations, softmax and reductions. Statistics of a batch normalisation are per replica, as
// frameworks do; so it is splittable. FLOPs per element count the passes over the data: mean,
// variance, scale and shift. Linear reductions (and sums of a function of each element) over the
// batch give Partial.
#pragma once

#include "core/graph/rules/op_rule.h"

namespace strato {

OpRules statistic_rules();

}  // namespace strato
