// The same model on another number of samples, without its file.
#pragma once

#include <cstdint>

#include "core/graph/value/graph.h"

namespace strato {

// Every tensor that carries the batch grows or shrinks along it; ops and tensors keep their ids, so
// that groupings and strategies of `graph` hold for the result. What depends on the batch in a way
// that the batch-axis analysis does not see keeps its size: then it is an estimate. Forward and
// training graphs. Pure. Throws InputError for a batch below 1, for one that makes a tensor too
// large, and where another input would be taken for the samples.
Graph with_batch(const Graph& graph, std::int64_t batch);

}  // namespace strato
