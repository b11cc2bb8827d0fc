// The batch-axis analysis: follows the axis that carries the samples from the inputs through every
// op (TAG 4.1.1 asks for splittability; a dataflow analysis answers it without a table of names).
//
// Forward ops follow the catalogue's batch rules. Gradient ops follow one rule for all: the
// gradient of a tensor that carries the batch carries it too; of one that does not, while the op's
// result does, it is a sum over the batch; gradient ops are linear in the output's gradient, so
// sums pass through.
#pragma once

#include <cstdint>

#include "core/graph/value/graph.h"

namespace strato {

// Fills Tensor::batch of all activations, gradients and batched inputs, and Op::split. `ops` are in
// topological order.
void analyse_batch_axis(IdVector<OpId, Op>& ops, IdVector<TensorId, Tensor>& tensors,
                        std::int64_t batch);

}  // namespace strato
