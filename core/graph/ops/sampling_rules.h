// Sampling at places that other tensors give, signals and determinants.
#pragma once

#include "core/graph/rules/op_rule.h"

namespace strato {

OpRules sampling_rules();

}  // namespace strato
