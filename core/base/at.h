// Nodes, edges and vertices are numbered in std::int32_t; vectors want std::size_t.
#pragma once

#include <cstddef>
#include <cstdint>

namespace strato {

inline std::size_t at(std::int32_t index) { return static_cast<std::size_t>(index); }

}  // namespace strato
