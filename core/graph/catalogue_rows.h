// Pieces that the families' tables share.
#pragma once

#include <cstdint>

#include "core/graph/batch_rules.h"
#include "core/graph/catalogue.h"
#include "core/graph/gradient_rules.h"
#include "core/graph/shape_rules.h"

namespace strato {

// FLOPs per element of the (first) output.
inline FlopsRule per_element(double flops) {
  return [flops](const OpReader& op) { return flops * op.elements(); };
}
// FLOPs per element of the first input.
inline FlopsRule per_input_element(double flops) {
  return [flops](const OpReader& op) { return flops * product(op.in(0)); };
}

// Extents from attributes that files give: -1, which is no extent, where 64 bits do not hold them.
inline std::int64_t added(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? -1 : sum;
}
inline std::int64_t multiplied(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  return __builtin_mul_overflow(a, b, &result) ? -1 : result;
}
// Of a whole number.
inline std::int64_t as_extent(double value) {
  constexpr double kMost = 4e18;
  return value >= 0 && value <= kMost ? static_cast<std::int64_t>(value) : -1;
}

}  // namespace strato
