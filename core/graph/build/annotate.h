// Computes what the builder adds to ops that are in topological order: family, work, view,
// estimated (from the catalogue), and batch layouts and splittability (from the batch-axis
// analysis).
//
// The analysis follows the axis that carries the samples from the inputs through every op
// (TAG 4.1.1 asks for splittability; a dataflow analysis answers it without a table of names).
// Forward ops follow the catalogue's batch rules. Gradient ops follow one rule for all: the
// gradient of a tensor that carries the batch carries it too; of one that does not, while the op's
// result does, it is a sum over the batch; gradient ops are linear in the output's gradient, so
// sums pass through.
#pragma once

#include <cstdint>
#include <string>

#include "core/graph/value/graph.h"

namespace strato {

// Throws InputError (naming `file`) for an op with fewer inputs than its type needs.
void annotate(IdVector<OpId, Op>& ops, IdVector<TensorId, Tensor>& tensors, std::int64_t batch,
              const std::string& file);

}  // namespace strato
