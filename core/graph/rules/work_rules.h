// Rules of work and extents that the families of the op catalogue share. Thread-safe, no state.
#pragma once

#include <cstdint>

#include "core/graph/rules/batch_rules.h"
#include "core/graph/rules/gradient_rules.h"
#include "core/graph/rules/op_rule.h"
#include "core/graph/rules/shape_rules.h"

namespace strato {

// Counts so many FLOPs per element of the (first) output.
inline FlopsRule per_element(double flops) {
  return [flops](const OpReader& op) { return flops * op.elements(); };
}
// Counts so many FLOPs per element of the first input.
inline FlopsRule per_input_element(double flops) {
  return [flops](const OpReader& op) { return flops * product(op.in(0)); };
}

// These compute extents from attributes that files give: -1, which is no extent, where 64 bits do
// not hold them.
inline std::int64_t added(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? -1 : sum;
}
inline std::int64_t multiplied(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  return __builtin_mul_overflow(a, b, &result) ? -1 : result;
}
// Converts a whole number to an extent; -1: it is none.
inline std::int64_t as_extent(double value) {
  constexpr double kMost = 4e18;
  return value >= 0 && value <= kMost ? static_cast<std::int64_t>(value) : -1;
}

}  // namespace strato
