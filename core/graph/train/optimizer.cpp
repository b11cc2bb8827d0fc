#include "core/graph/train/optimizer.h"

#include <fmt/format.h>

#include <array>

#include "core/base/error.h"

namespace strato {
namespace {

constexpr std::array<std::string_view, 1> momentum_state = {"momentum"};
constexpr std::array<std::string_view, 2> adam_state = {"adam_m", "adam_v"};
constexpr std::array<OptimizerRule, 3> rules = {{
    {"sgd", "ApplySgd", {}},
    {"momentum", "ApplyMomentum", momentum_state},
    {"adam", "ApplyAdam", adam_state},
}};

}  // namespace

const OptimizerRule& rule_of(Optimizer optimizer) {
  return rules[static_cast<std::size_t>(optimizer)];
}

std::string_view name_of(Optimizer optimizer) { return rule_of(optimizer).name; }
int state_slots(Optimizer optimizer) { return static_cast<int>(rule_of(optimizer).state.size()); }

Optimizer optimizer_from(std::string_view name) {
  for (std::size_t i = 0; i < rules.size(); ++i) {
    if (rules[i].name == name) return static_cast<Optimizer>(i);
  }
  throw InputError("", "optimizer", fmt::format("\"{}\" is not known", name.substr(0, 64)),
                   "use sgd, momentum or adam");
}

}  // namespace strato
