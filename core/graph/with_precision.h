// The same model computed in another precision, without its file.
#pragma once

#include <string_view>

#include "core/graph/graph.h"

namespace strato {

// Inputs, parameters, activations and gradients of 32 or 16 bits become `type`; the state of
// optimizers stays (frameworks keep it in 32 bits), as do integers and 64 bits. A second copy of the
// parameters in 32 bits is not counted. Ops and tensors keep their ids. Forward and training graphs.
// Pure. Throws InputError unless `type` is F32, F16 or BF16.
Graph with_precision(const Graph& graph, DataType type);

// What the model is computed in mostly: of its parameters by size, else of its other tensors.
DataType precision_of(const Graph& graph);

// "float32", "float16", "bfloat16", and "fp32", "fp16", "half", "bf16". Throws InputError.
DataType precision_from(std::string_view name);

}  // namespace strato
