#include "core/graph/ops/arithmetic/convolution_rules.h"

#include "core/graph/rules/work_rules.h"

namespace strato {
namespace {

double convolution_flops(const OpReader& op) { return 2 * op.elements() * product(op.in(1), 1); }
double transposed_flops(const OpReader& op) { return 2 * product(op.in(0)) * product(op.in(1), 1); }

OpRule convolution(std::string_view type, ShapeRule shape, FlopsRule flops) {
  return {.type = type,
          .family = OpFamily::Convolution,
          .min_inputs = 2,
          .shape = std::move(shape),
          .flops = std::move(flops),
          .batch = batch_kept(mixes_all_but_first),
          .gradient = gradients({{"GradInput", "grad_input", 0, {x(1)}},
                                 {"GradWeight", "grad_weight", 1, {x(0)}},
                                 {"GradBias", "grad_bias", 2, {}}}),
          .differentiable = inputs({0, 1, 2})};
}

}  // namespace

OpRules convolution_rules() {
  return {
      convolution("Conv", shape_convolution, convolution_flops),
      convolution("ConvInteger", shape_convolution, convolution_flops),
      convolution("FusedConv", shape_convolution, convolution_flops),  // com.microsoft
      convolution("ConvTranspose", shape_transposed_convolution, transposed_flops),
  };
}

}  // namespace strato
