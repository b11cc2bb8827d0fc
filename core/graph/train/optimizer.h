// The optimizers and their update ops.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace strato {

enum class Optimizer : std::uint8_t { Sgd, Momentum, Adam };
std::string_view name_of(Optimizer optimizer);
Optimizer optimizer_from(std::string_view name);  // throws InputError; accepts sgd, momentum, adam
int state_slots(Optimizer optimizer);             // parameter-sized tensors kept per parameter

struct OptimizerRule {
  std::string_view name;                    // as a person writes it
  std::string_view update;                  // op type
  std::span<const std::string_view> state;  // names of the tensors kept per parameter
};
const OptimizerRule& rule_of(Optimizer optimizer);

}  // namespace strato
