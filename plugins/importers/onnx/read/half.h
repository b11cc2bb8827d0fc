// Numbers of two bytes: IEEE half precision and bfloat16, rounded to the nearest, ties to even.
#pragma once

#include <bit>
#include <cstdint>

namespace strato::onnx_import {

inline std::uint16_t half_bits(double element) {
  return std::bit_cast<std::uint16_t>(static_cast<_Float16>(element));
}
inline double half_value(std::uint16_t bits) {
  return static_cast<double>(std::bit_cast<_Float16>(bits));
}
inline std::uint16_t bfloat_bits(double element) {
  const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(element));
  return static_cast<std::uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}
inline double bfloat_value(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

}  // namespace strato::onnx_import
