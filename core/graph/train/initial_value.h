// Says what tensors hold before the first step, where no file says it: seeded parameters, synthetic
// inputs within the range that their readers expect, constants. The same for everybody who executes
// a graph.
#pragma once

#include <cstdint>

#include "core/graph/value/graph.h"

namespace strato {

struct InitialValue {
  enum class Kind : std::uint8_t {
    Data,      // the constant's own elements
    Fill,      // all elements are `low`
    Uniform,   // in [low, high)
    Integers,  // 0 to below `high`
  } kind = Kind::Fill;
  double low = 0, high = 0;
};

// Describes the first elements of an input, parameter, constant or optimizer state.
InitialValue initial_value(const Graph& graph, TensorId tensor);

}  // namespace strato
