// Numbers of two bytes: IEEE half precision and bfloat16, rounded to the nearest, ties to even.
#pragma once

#include <cstdint>

namespace strato::onnx_import {

std::uint16_t half_bits(double element);
double half_value(std::uint16_t bits);
std::uint16_t bfloat_bits(double element);
double bfloat_value(std::uint16_t bits);

}  // namespace strato::onnx_import
