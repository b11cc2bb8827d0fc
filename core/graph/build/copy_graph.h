// New graphs from old ones. Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/graph/build/graph_builder.h"
#include "core/graph/value/graph.h"

namespace strato {

// All tensors of `graph`, with their ids, in a builder without ops. Layouts of what ops make are
// found anew.
GraphBuilder builder_with_tensors(const Graph& graph);

// Returns the tensors that the graph is there for: floating-point tensors of the forward part that
// nothing reads and that are no by-products (masks, statistics). In a graph that ends in integers
// (an ArgMax) they are those that the integers are made of.
std::vector<TensorId> results_of(const Graph& graph);
// The tensors whose sum over all elements, and over the shards, is the graph's loss.
std::vector<TensorId> loss_tensors(const Graph& graph);

// The same model on another number of samples, without its file. Every tensor that carries the
// batch grows or shrinks along it; ops and tensors keep their ids, so that groupings and strategies
// of `graph` hold for the result. What depends on the batch in a way that the batch-axis analysis
// does not see keeps its size: then it is an estimate. Forward and training graphs. Throws
// InputError for a batch below 1, for one that makes a tensor too large, and where another input
// would be taken for the samples.
Graph with_batch(const Graph& graph, std::int64_t batch);

// The same model computed in another precision, without its file. All tensors of 32 or 16 bits
// become `type`, as if the model's file had it so: the state of the optimizer, too (a second copy
// in 32 bits, as some frameworks keep it, is not counted). Integers and 64 bits stay. Ops and
// tensors keep their ids. Forward and training graphs. Throws InputError unless `type` is F32, F16
// or BF16.
Graph with_precision(const Graph& graph, DataType type);

// Whether numbers of this type are computed in one precision or another: those of 32 and 16 bits.
bool has_precision(DataType type);
void check_precision(DataType type, const std::string& graph);  // InputError for any other

// Returns the type that the model is computed in mostly: of its parameters by size, else of its
// other tensors.
DataType precision_of(const Graph& graph);

// "float32", "float16", "bfloat16", and "fp32", "fp16", "half", "bf16". Throws InputError.
DataType precision_from(std::string_view name);

}  // namespace strato
