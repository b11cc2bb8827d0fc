#include "plugins/importers/onnx/read/half.h"

#include <bit>
#include <cmath>
#include <limits>

namespace strato::onnx_import {

// Scaling is exact for every value that a half holds.
std::uint16_t half_bits(double element) {
  const std::uint16_t sign = std::signbit(element) ? 0x8000 : 0;
  const double size = std::fabs(element);
  if (std::isnan(element)) return sign | 0x7e00;
  if (size >= 65520.0) return sign | 0x7c00;
  if (size < 0x1p-14) return static_cast<std::uint16_t>(sign | std::lrint(size * 0x1p24));
  int exponent = 0;
  const double fraction = std::frexp(size, &exponent);  // in [0.5, 1)
  const long mantissa = std::lrint(fraction * 2048);  // in [1024, 2048]: a carry moves the exponent
  return static_cast<std::uint16_t>(sign | (((exponent + 14) << 10) + (mantissa - 1024)));
}

double half_value(std::uint16_t bits) {
  const int exponent = (bits >> 10) & 0x1f;
  const int mantissa = bits & 0x3ff;
  double size = exponent == 0 ? mantissa * 0x1p-24 : std::ldexp(1024 + mantissa, exponent - 25);
  if (exponent == 31) {
    size = mantissa == 0 ? std::numeric_limits<double>::infinity()
                         : std::numeric_limits<double>::quiet_NaN();
  }
  return (bits & 0x8000) != 0 ? -size : size;
}

double bfloat_value(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

std::uint16_t bfloat_bits(double element) {
  const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(element));
  return static_cast<std::uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

}  // namespace strato::onnx_import
