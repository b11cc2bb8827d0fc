// Products of matrices. A multiply-add counts two FLOPs; a bias rides along in the kernel and
// counts none.
#pragma once

#include "core/graph/rules/op_rule.h"

namespace strato {

OpRules matmul_rules();

}  // namespace strato
