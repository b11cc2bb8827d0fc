// Products of tensors in index notation ("mk,kn->mn" without the commas): a letter per axis; what
// is not in the result is summed over.
#pragma once

#include "core/graph/rules/batch_rules.h"

namespace strato {

// Outer axes align from the right: "ABmk,ABkn->ABmn". With the transA and transB of com.microsoft's
// FusedMatMul.
Letters matmul_letters(const OpReader& op);
Letters gemm_letters(const OpReader& op);  // three operands: the bias is the last
// "bij,bjk->bik"; an equation without "->" keeps the letters that occur once, ascending.
Letters einsum_letters(const OpReader& op);

}  // namespace strato
