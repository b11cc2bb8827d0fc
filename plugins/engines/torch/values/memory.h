// Measures the memory that the library's CPU allocator has handed out, tensors and workspaces
// alike.
#pragma once

#include <cstdint>

namespace strato::torch_engine {

// Installs the counting allocator: before the first tensor is made. Again: nothing.
void count_allocations();
std::int64_t allocated_bytes();
std::int64_t peak_bytes();  // since the last reset
void reset_peak();

}  // namespace strato::torch_engine
