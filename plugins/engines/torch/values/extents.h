// A product of extents, as pieces and noise count elements.
#pragma once

#include <cstdint>

#include "core/graph/value/graph.h"

namespace strato::torch_engine {

// Returns the product of the extents from axis `first` to before `last`; 1 of none.
inline std::int64_t extent_product(const Shape& shape, std::size_t first, std::size_t last) {
  std::int64_t result = 1;
  for (std::size_t i = first; i < last; ++i) result *= shape[i];
  return result;
}

}  // namespace strato::torch_engine
