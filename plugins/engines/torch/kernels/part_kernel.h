// Kernels of ops that are split along another axis than the batch (core/graph/axes/split_axes.h):
// the same makers, on a copy of the op whose tensors have the part's shapes. Include in .cpp files
// only.
#pragma once

#include <vector>

#include "core/program/rank/rank_program.h"
#include "plugins/engines/torch/kernels/kernel.h"

namespace strato::torch_engine {

// Returns the part of each input that this part needs; invalid inputs get the whole.
std::vector<Part> part_inputs(const Graph& graph, OpId op, const Part& part);

// `part`: the slice that it makes of the first output (of an update: of its parameter). Throws
// InputError naming the op when it cannot be computed in such parts.
Kernel make_part_kernel(const Graph& graph, OpId op, const Part& part);

}  // namespace strato::torch_engine
