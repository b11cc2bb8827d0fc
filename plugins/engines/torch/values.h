// What tensors hold before the first step: seeded parameters, synthetic inputs within the range that
// their readers expect, constants.
#pragma once

#include <cstdint>
#include <string>

#include "core/graph/graph.h"
#include "plugins/engines/torch/shard.h"

namespace strato::torch_engine {

struct InitialValue {
  enum class Kind {
    Data,      // the constant's own elements
    Fill,      // all elements are `low`
    Uniform,   // in [low, high)
    Integers,  // 0 to below `high`
  } kind = Kind::Fill;
  double low = 0, high = 0;
};

// Of an input, parameter, constant or optimizer state.
InitialValue initial_value(const Graph& graph, TensorId tensor);
// Its elements on this shard, little endian, in the tensor's type.
std::string initial_elements(const Graph& graph, TensorId tensor, const Shard& shard);

}  // namespace strato::torch_engine
