// Pooling: the samples are on axis 0.
#pragma once

#include "core/graph/rules/op_rule.h"

namespace strato {

OpRules pooling_rules();

}  // namespace strato
