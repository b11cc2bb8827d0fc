#include "core/graph/ops/arithmetic/reduction_rules.h"

#include "core/graph/rules/work_rules.h"

namespace strato {
namespace {

OpRule reduction(std::string_view type, bool sums, Linearity linear, std::vector<Saved> reads) {
  return {.type = type,
          .family = OpFamily::Reduction,
          .shape = shape_reduced,
          .flops = per_input_element(1),
          .batch = batch_reduced(sums),
          .linear = linear,
          .gradient = gradient(std::move(reads))};
}

// One axis, given by attribute "axis".
BatchAnswer arg_reduced(BatchFlow& flow) {
  const int axis = flow.axis(0), along = flow.op.axis("axis", 0, flow.op.in(0).size());
  if (axis < 0 || axis == along) return std::nullopt;
  const bool keeps = flow.op->integer("keepdims", 1) != 0;
  return flow.on(keeps || axis < along ? axis : axis - 1);
}

OpRule arg_reduction(std::string_view type) {
  return {.type = type,
          .family = OpFamily::Reduction,
          .shape = shape_arg_reduced,
          .flops = per_input_element(1),
          .batch = arg_reduced};
}

OpRule cumulative_sum() {
  return {.type = "CumSum",
          .family = OpFamily::Reduction,
          .flops = per_element(1),
          .batch = batch_kept([](const OpReader& op, int axis) {
            const auto along = op.constant(1);
            return along && !along->empty() && wrap_axis(along->front(), op.in(0).size()) == axis;
          }),
          .linear = Linearity::Joint,
          .gradient = gradient()};
}

}  // namespace

OpRules reduction_rules() {
  using enum Linearity;
  return {
      arg_reduction("ArgMax"),
      arg_reduction("ArgMin"),
      cumulative_sum(),
      reduction("ReduceL1", true, None, {x(0)}),
      reduction("ReduceL2", false, None, {x(0), y(0)}),
      reduction("ReduceLogSum", false, None, {x(0), y(0)}),
      reduction("ReduceLogSumExp", false, None, {x(0), y(0)}),
      reduction("ReduceMax", false, None, {x(0), y(0)}),
      reduction("ReduceMean", true, Joint, {}),
      reduction("ReduceMin", false, None, {x(0), y(0)}),
      reduction("ReduceProd", false, None, {x(0), y(0)}),
      reduction("ReduceSum", true, Joint, {}),
      reduction("ReduceSumSquare", true, None, {x(0)}),
  };
}

}  // namespace strato
