// Makes the elements that tensors hold before the first step.
#pragma once

#include <string>

#include "core/graph/train/initial_value.h"
#include "plugins/engines/torch/values/shard.h"

namespace strato::torch_engine {

// The elements of an input, parameter, constant or optimizer state
// (core/graph/train/initial_value.h) on this shard, little endian, in the tensor's type.
std::string initial_elements(const Graph& graph, TensorId tensor, const Shard& shard);

}  // namespace strato::torch_engine
