// The same model computed in another precision, without its file.
#pragma once

#include <string_view>

#include "core/graph/value/graph.h"

namespace strato {

// All tensors of 32 or 16 bits become `type`, as if the model's file had it so: the state of the
// optimizer, too (a second copy in 32 bits, as some frameworks keep it, is not counted). Integers
// and 64 bits stay. Ops and tensors keep their ids. Forward and training graphs. Pure. Throws
// InputError unless `type` is F32, F16 or BF16.
Graph with_precision(const Graph& graph, DataType type);

// Returns the type that the model is computed in mostly: of its parameters by size, else of its
// other tensors.
DataType precision_of(const Graph& graph);

// "float32", "float16", "bfloat16", and "fp32", "fp16", "half", "bf16". Throws InputError.
DataType precision_from(std::string_view name);

}  // namespace strato
