#include "core/graph/ops/arithmetic/normalization_rules.h"

#include "core/graph/rules/work_rules.h"

namespace strato {
namespace {

OpRule normalization(std::string_view type, double flops, MixesAxis mixes,
                     InputSet differentiable) {
  return {.type = type,
          .family = OpFamily::Normalization,
          .flops = per_element(flops),
          .batch = batch_kept(std::move(mixes)),
          .gradient = gradient({x(0), x(1)}),
          .differentiable = differentiable,
          .side_outputs = true};
}

OpRule softmax(std::string_view type, std::int64_t axis, GradientRule gradient_rule) {
  return {.type = type,
          .family = OpFamily::Softmax,
          .flops = per_element(13),  // maximum, subtract, exponent (10), sum and divide
          .batch = batch_kept(mixes_along("axis", axis)),
          .gradient = std::move(gradient_rule)};
}

bool mixes_channels(const OpReader&, int axis) { return axis == 1; }

// x, residual, scale, shift (com.microsoft): the sum of the first two is normalised, and is the
// last of the outputs.
OpRule skip_normalization(std::string_view type) {
  OpRule rule = normalization(type, 9, mixes_from("axis", -1), inputs({0, 1, 2, 3}));
  rule.batch = [](BatchFlow& flow) -> BatchAnswer {
    const int axis = flow.axis(0);
    const bool follows = axis >= 0 && axis < 2 && flow.requires_batch(1, axis);
    return follows ? BatchAnswer(flow.on(axis)) : std::nullopt;
  };
  rule.min_inputs = 3;
  rule.shape = [](const OpReader& op) -> TensorTypes {
    const TensorType sum = {op.input(0).type, op.in(0)};
    TensorType statistic = {DataType::F32, op.in(0)};
    if (!statistic.shape.empty()) statistic.shape.back() = 1;
    return {sum, statistic, statistic, sum};
  };
  rule.gradient = gradient({x(0), x(1), x(2)});
  return rule;
}

double local_response_flops(const OpReader& op) {
  return op.elements() * (2 * static_cast<double>(op->integer("size", 5)) + 12);
}

OpRule local_response() {
  OpRule rule = normalization("LRN", 0, mixes_all_but_first, inputs({0}));
  rule.flops = local_response_flops;
  rule.gradient = gradient({x(0), y(0)});
  return rule;
}

}  // namespace

OpRules normalization_rules() {
  const InputSet scale_and_shift = inputs({0, 1, 2}), scale_only = inputs({0, 1});
  return {
      // Inputs 3 and 4, the running mean and variance, are not trained.
      normalization("BatchNormalization", 5, mixes_channels, scale_and_shift),
      normalization("GroupNormalization", 8, mixes_all_but_first, scale_and_shift),
      normalization("InstanceNormalization", 8, mixes_all_but_first, scale_and_shift),
      normalization("LayerNormalization", 8, mixes_from("axis", -1), scale_and_shift),
      local_response(),
      normalization("LpNormalization", 4, mixes_along("axis", -1), inputs({0})),
      normalization("MeanVarianceNormalization", 6, mixes_all_but_first, inputs({0})),
      normalization("RMSNormalization", 5, mixes_from("axis", -1), scale_only),
      normalization("SimplifiedLayerNormalization", 5, mixes_from("axis", -1), scale_only),
      skip_normalization("SkipLayerNormalization"),
      skip_normalization("SkipSimplifiedLayerNormalization"),
      softmax("Hardmax", -1, nullptr),
      softmax("LogSoftmax", -1, gradient({y(0)})),
      softmax("Softmax", -1, gradient({y(0)})),
  };
}

}  // namespace strato
