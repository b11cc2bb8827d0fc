// Cross entropy over many classes, in blocks of classes that are next to each other: a vocabulary
// that is divided among devices is reduced where it is, and just two numbers for each block go
// between them (Shoeybi et al. 2019, Megatron-LM, 3: the parallel cross entropy).
//
// BlockLogSumExp: scores [..., classes], labels [...] of I64; attribute "blocks", a divisor of the
//   number of classes -> log_sums [..., blocks], the logarithm of each block's sum of exponentials,
//   and label_scores [..., blocks], the score of the label in the block that has it, elsewhere zero
// BlockCrossEntropy: log_sums, label_scores, labels; attribute "ignore_index" (-100) -> the loss, a
//   scalar: the mean over all labels, of which those that are ignored add nothing
//
// Sums are of F32, those of F64 scores of F64. The loss is a sum over the batch, as all losses are
// (layer_rules.h).
#pragma once

#include "core/graph/rules/op_rule.h"

namespace strato {

OpRules class_block_rules();

}  // namespace strato
