// Optimizer updates. Inputs: parameter, gradient, state tensors; all but the gradient are written
// in place. Never splittable: they need the whole gradient (TAG 4.1.1). FLOPs per element count the
// textbook formula.
#include "core/graph/ops/catalogue_rows.h"
#include "core/graph/rules/op_rule.h"

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
