#include "core/graph/ops/layers/update_rules.h"

#include "core/graph/rules/work_rules.h"

namespace strato {
namespace {

OpRule update(std::string_view type, std::size_t inputs, double flops) {
  return {.type = type,
          .family = OpFamily::Update,
          .min_inputs = inputs,
          .flops = per_input_element(flops)};
}

}  // namespace

OpRules update_rules() {
  return {
      update("ApplyAdam", 4, 12),
      update("ApplyMomentum", 3, 4),
      update("ApplySgd", 2, 2),
  };
}

}  // namespace strato
