// Losses: ONNX's, and ours, which the training graph ends in: SoftmaxCrossEntropy (scores, labels;
// attribute "axis": the classes) and MeanSquaredLoss (values, targets). A loss is a sum over the
// batch; its gradient is scaled by the global batch, so that sums over shards of any size are
// exact.
#pragma once

#include "core/graph/rules/op_rule.h"

namespace strato {

OpRules loss_rules();

}  // namespace strato
