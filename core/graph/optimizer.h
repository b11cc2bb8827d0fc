// The optimizers' update ops.
#pragma once

#include <span>
#include <string_view>

#include "core/graph/transform.h"

namespace strato {

struct OptimizerRule {
  std::string_view name;                    // as a person writes it
  std::string_view update;                  // op type
  std::span<const std::string_view> state;  // names of the tensors kept per parameter
};
const OptimizerRule& rule_of(Optimizer optimizer);

}  // namespace strato
