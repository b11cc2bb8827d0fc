// Pieces that the families' tables share.
#pragma once

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

}  // namespace strato
