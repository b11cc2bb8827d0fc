// Bits of 16-bit floating-point numbers. By way of a float's they are rounded towards zero: the
// same on every machine, whatever its library does. Pure functions.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace strato {

// Of bfloat16: the upper half of a float.
inline std::uint16_t bfloat_bits(float value) {
  return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(value) >> 16);
}

// Of IEEE 754's half precision: what is too small becomes zero, what is too large infinite.
inline std::uint16_t half_bits(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>((bits >> 16) & 0x8000);
  const int exponent = static_cast<int>((bits >> 23) & 0xff) - 127 + 15;
  if (exponent <= 0) return sign;
  if (exponent >= 31) return static_cast<std::uint16_t>(sign | 0x7c00);
  return static_cast<std::uint16_t>(sign | (exponent << 10) | ((bits >> 13) & 0x3ff));
}

// To the nearest, ties to even.
inline std::uint16_t nearest_bfloat_bits(double value) {
  const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(value));
  return static_cast<std::uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}
inline std::uint16_t nearest_half_bits(double value) {
  constexpr double kInfiniteFrom = 65520;
  constexpr int kLeastExponent = -14;
  const auto sign = static_cast<std::uint16_t>(std::signbit(value) ? 0x8000 : 0);
  const double size = std::fabs(value);
  if (std::isnan(value)) return static_cast<std::uint16_t>(sign | 0x7e00);
  if (size >= kInfiniteFrom) return static_cast<std::uint16_t>(sign | 0x7c00);
  const int exponent = size == 0 ? kLeastExponent : std::max(std::ilogb(size), kLeastExponent);
  // 1024 of them and more where the number is normal: the exponent's last bit.
  const auto steps = static_cast<int>(std::nearbyint(std::ldexp(size, 10 - exponent)));
  return static_cast<std::uint16_t>(sign | (((exponent - kLeastExponent) << 10) + steps));
}

inline float bfloat_value(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}
inline float half_value(std::uint16_t bits) {
  const float sign = (bits & 0x8000) != 0 ? -1.0F : 1.0F;
  const std::uint32_t exponent = (bits >> 10) & 0x1f, fraction = bits & 0x3ff;
  constexpr float kSmallest = 0x1p-24F;
  if (exponent == 0) return sign * static_cast<float>(fraction) * kSmallest;
  const std::uint32_t raised = exponent == 31 ? 0xff : exponent + 127 - 15;
  return sign * std::bit_cast<float>((raised << 23) | (fraction << 13));
}

}  // namespace strato
