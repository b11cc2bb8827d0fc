#include "core/graph/ops/statistic_rules.h"

#include "core/graph/rules/shape_rules.h"

namespace strato {
namespace {

OpRule normalization(double flops, MixesAxis mixes, InputSet differentiable) {
  return {.family = OpFamily::Normalization,
          .flops = per_element(flops),
          .batch = batch_kept(std::move(mixes)),
          .gradient = gradient({x(0), x(1)}),
          .differentiable = differentiable,
          .side_outputs = true};
}

OpRule softmax(GradientRule gradient_rule) {
  return {.family = OpFamily::Softmax,
          .flops = per_element(13),  // maximum, subtract, exponent (10), sum and divide
          .batch = batch_kept(mixes_along("axis", -1)),
          .gradient = std::move(gradient_rule)};
}

// x, residual, scale, shift (com.microsoft): the sum of the first two is normalised, and is the
// last of the outputs.
OpRule skip_normalization() {
  OpRule rule = normalization(9, nullptr, inputs({0, 1, 2, 3}));
  rule.batch = [](BatchFlow& flow) {
    const int axis = flow.axis(0);
    return flow.on_if(axis >= 0 && axis < 2 && flow.requires_batch(1, axis), axis);
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

OpRule local_response() {
  OpRule rule = normalization(0, mixes_all_but_first, inputs({0}));
  rule.flops = [](const OpReader& op) {
    return op.elements() * (2 * static_cast<double>(op->integer("size", 5)) + 12);
  };
  rule.gradient = gradient({x(0), y(0)});
  return rule;
}

OpRule reduction(bool sums, Linearity linear, std::vector<Saved> reads) {
  return {.family = OpFamily::Reduction,
          .shape = [](const OpReader& op) -> TensorTypes {
            if (op.has_input(1) && !op.constant(1)) return {};
            const bool keeps = op->integer("keepdims", 1) != 0;
            return typed_like_first(op, without(op.in(0), reduced_axes(op), keeps));
          },
          .flops = per_input_element(1),
          .batch = batch_reduced(sums),
          .linear = linear,
          .gradient = gradient(std::move(reads))};
}

// One axis, given by attribute "axis".
OpRule arg_reduction() {
  return {
      .family = OpFamily::Reduction,
      .shape = [](const OpReader& op) -> TensorTypes {
        const int axis = op.axis("axis", 0, op.in(0).size());
        return {{DataType::I64, without(op.in(0), {axis}, op->integer("keepdims", 1) != 0)}};
      },
      .flops = per_input_element(1),
      .batch =
          [](BatchFlow& flow) {
            const int axis = flow.axis(0), along = flow.op.axis("axis", 0, flow.op.in(0).size());
            const bool keeps = flow.op->integer("keepdims", 1) != 0;
            return flow.on_if(axis >= 0 && axis != along, keeps || axis < along ? axis : axis - 1);
          }};
}

OpRule cumulative_sum() {
  return {.family = OpFamily::Reduction,
          .flops = per_element(1),
          .batch = batch_kept([](const OpReader& op, int axis) {
            const auto along = op.constant(1);
            return along && !along->empty() && wrap_axis(along->front(), op.in(0).size()) == axis;
          }),
          .linear = Linearity::Joint,
          .gradient = gradient()};
}

}  // namespace

OpRules statistic_rules() {
  using enum Linearity;
  const InputSet scale_and_shift = inputs({0, 1, 2}), scale_only = inputs({0, 1});
  const MixesAxis mixes_channels = [](const OpReader&, int axis) { return axis == 1; };
  return {
      // Inputs 3 and 4, the running mean and variance, are not trained.
      {{"BatchNormalization"}, normalization(5, mixes_channels, scale_and_shift)},
      {{"GroupNormalization", "InstanceNormalization"},
       normalization(8, mixes_all_but_first, scale_and_shift)},
      {{"LayerNormalization"}, normalization(8, mixes_from("axis", -1), scale_and_shift)},
      {{"RMSNormalization", "SimplifiedLayerNormalization"},
       normalization(5, mixes_from("axis", -1), scale_only)},
      {{"LpNormalization"}, normalization(4, mixes_along("axis", -1), inputs({0}))},
      {{"MeanVarianceNormalization"}, normalization(6, mixes_all_but_first, inputs({0}))},
      {{"LRN"}, local_response()},
      {{"SkipLayerNormalization", "SkipSimplifiedLayerNormalization"}, skip_normalization()},
      {{"Hardmax"}, softmax(nullptr)},
      {{"LogSoftmax", "Softmax"}, softmax(gradient({y(0)}))},
      {{"ArgMax", "ArgMin"}, arg_reduction()},
      {{"CumSum"}, cumulative_sum()},
      {{"ReduceL1", "ReduceSumSquare"}, reduction(true, None, {x(0)})},
      {{"ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMin", "ReduceProd"},
       reduction(false, None, {x(0), y(0)})},
      {{"ReduceMean", "ReduceSum"}, reduction(true, Joint, {})},
  };
}

}  // namespace strato
