// Normalisations, softmax, pooling, recurrent layers, losses and optimizer updates.
//
// Statistics of a batch normalisation are per replica, as frameworks do; so it is splittable. FLOPs
// per element count the passes over the data: mean, variance, scale and shift.
//
// Recurrent layers run as one fused op per layer as cuDNN does: a product per step and direction
// for the hidden state, one product for all inputs. What the backward pass needs again (cuDNN's
// reserve space: every gate and the cell state of every step) is a further output of the forward
// op.
//
// Losses are those of ONNX, and ours, which the training graph ends in: SoftmaxCrossEntropy
// (scores, labels; attribute "axis": the classes), MeanSquaredLoss (values, targets), and of many
// classes those of class_block_rules.h. A loss is a sum over the batch; its gradient is scaled by
// the global batch, so that sums over shards of any size are exact.
//
// Updates have the inputs parameter, gradient, state tensors; all but the gradient are written in
// place. They are never splittable: they need the whole gradient (TAG 4.1.1).
#pragma once

#include "core/graph/rules/op_rule.h"

namespace strato {

OpRules layer_rules();

}  // namespace strato
