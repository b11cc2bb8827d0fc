// Element-wise sums for Gloo's collectives.
#pragma once

#include <cstddef>
#include <functional>

#include "core/graph/value/graph.h"

namespace strato::gloo_transport {

// to = a + b, for so many elements; `to` may be `a` or `b`. Halves are added as floats and rounded
// to the nearest, ties to even.
using SumFunction = std::function<void(void* to, const void* a, const void* b, std::size_t)>;

// Throws InputError for a type that nothing sums (Bool).
SumFunction sum_of(DataType type);

}  // namespace strato::gloo_transport
