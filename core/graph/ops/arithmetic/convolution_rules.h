// Convolutions: the samples are on axis 0; weights are [out, in / groups, window...] (transposed:
// [in, out / groups, window...]). A multiply-add counts two FLOPs.
#pragma once

#include "core/graph/rules/op_rule.h"

namespace strato {

OpRules convolution_rules();

}  // namespace strato
