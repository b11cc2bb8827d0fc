// Computes what the builder adds to ops that are in topological order: family, work, view,
// estimated (from the catalogue), batch layouts and splittability (from the batch-axis analysis).
#pragma once

#include <cstdint>
#include <string>

#include "core/graph/value/graph.h"

namespace strato {

// Throws InputError (naming `file`) for an op with fewer inputs than its type needs.
void annotate(IdVector<OpId, Op>& ops, IdVector<TensorId, Tensor>& tensors, std::int64_t batch,
              const std::string& file);

}  // namespace strato
