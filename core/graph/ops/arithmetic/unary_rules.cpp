#include "core/graph/ops/arithmetic/unary_rules.h"

#include "core/graph/rules/work_rules.h"

namespace strato {
namespace {

constexpr double cheap = 1, costly = 10;

OpRule unary(std::string_view type, double flops, GradientRule gradient_rule) {
  return {.type = type,
          .family = OpFamily::Elementwise,
          .flops = per_element(flops),
          .batch = batch_aligned,
          .gradient = std::move(gradient_rule)};
}

OpRule linear(std::string_view type, GradientRule gradient_rule) {
  OpRule rule = unary(type, cheap, std::move(gradient_rule));
  rule.linear = Linearity::Joint;
  return rule;
}

OpRule unary_predicate(std::string_view type) {
  OpRule rule = unary(type, cheap, nullptr);
  rule.shape = shape_broadcast_bool;
  return rule;
}

// The gradient reads the mask, a byte per element, which the forward op keeps for it.
void dropout_gradient(GradientWriter& writer) {
  const OpReader& forward = writer.forward();
  const std::size_t mask =
      forward.has_output(1) ? 1 : writer.save_output("mask", DataType::Bool, forward.in(0));
  gradient({y(mask)})(writer);
}

OpRule dropout() {
  OpRule rule = unary("Dropout", 2, dropout_gradient);
  rule.side_outputs = true;
  return rule;
}

OpRule leaky(std::string_view type) {  // the slope is the second input
  OpRule rule = unary(type, 2,
                      gradients({{"GradInput", "grad_input", 0, {x(0), x(1)}},
                                 {"GradWeight", "grad_weight", 1, {x(0)}}}));
  rule.min_inputs = 2;
  rule.differentiable = inputs({0, 1});
  return rule;
}

TensorTypes cast_shape(const OpReader& op) {
  // ONNX TensorProto.DataType
  switch (op->integer("to", 1)) {
    case 2:
      return {{DataType::U8, op.in(0)}};
    case 3:
      return {{DataType::I8, op.in(0)}};
    case 4:
    case 5:
      return {{DataType::I16, op.in(0)}};
    case 6:
    case 12:
      return {{DataType::I32, op.in(0)}};
    case 7:
    case 13:
      return {{DataType::I64, op.in(0)}};
    case 9:
      return {{DataType::Bool, op.in(0)}};
    case 10:
      return {{DataType::F16, op.in(0)}};
    case 11:
      return {{DataType::F64, op.in(0)}};
    case 16:
      return {{DataType::BF16, op.in(0)}};
    default:
      return {{DataType::F32, op.in(0)}};
  }
}

OpRule cast(std::string_view type, ShapeRule shape) {
  OpRule rule = linear(type, gradient());
  rule.shape = std::move(shape);
  return rule;
}

}  // namespace

OpRules unary_rules() {
  const GradientRule reads_input = gradient({x(0)}), reads_output = gradient({y(0)});
  return {
      unary("Abs", cheap, reads_input),
      unary("Acos", costly, reads_input),
      unary("Acosh", costly, reads_input),
      unary("Asin", costly, reads_input),
      unary("Asinh", costly, reads_input),
      unary("Atan", costly, reads_input),
      unary("Atanh", costly, reads_input),
      unary("BiasGelu", costly, reads_input),
      unary("BitwiseNot", cheap, nullptr),
      cast("Cast", cast_shape),
      cast("CastLike", shape_like_first),
      unary("Ceil", cheap, nullptr),
      unary("Celu", costly, reads_input),
      unary("Clip", cheap, reads_input),
      unary("Cos", costly, reads_input),
      unary("Cosh", costly, reads_input),
      unary("DequantizeLinear", 2, nullptr),
      dropout(),
      unary("DynamicQuantizeLinear", 2, nullptr),
      unary("Elu", costly, reads_output),
      unary("Erf", costly, reads_input),
      unary("Exp", costly, reads_output),
      unary("FastGelu", costly, reads_input),
      unary("Floor", cheap, nullptr),
      unary("Gelu", costly, reads_input),
      unary("HardSigmoid", 2, reads_input),
      unary("HardSwish", 3, reads_input),
      unary_predicate("IsInf"),
      unary_predicate("IsNaN"),
      unary("LeakyRelu", 2, reads_output),
      unary("Log", costly, reads_input),
      unary("Mish", 2 * costly, reads_input),
      linear("Neg", gradient()),
      unary_predicate("Not"),
      leaky("PRelu"),
      unary("QuantizeLinear", 2, nullptr),
      unary("QuickGelu", costly, reads_input),
      unary("Reciprocal", cheap, reads_output),
      unary("Relu", cheap, reads_output),
      unary("Round", cheap, nullptr),
      unary("Selu", costly, reads_output),
      unary("Shrink", 2, reads_input),
      unary("Sigmoid", costly, reads_output),
      unary("Sign", cheap, nullptr),
      unary("Silu", costly, reads_input),
      unary("Sin", costly, reads_input),
      unary("Sinh", costly, reads_input),
      unary("Softplus", costly, reads_input),
      unary("Softsign", 2, reads_input),
      unary("Sqrt", cheap, reads_output),
      unary("Swish", costly, reads_input),
      unary("Tan", costly, reads_output),
      unary("Tanh", costly, reads_output),
      unary("ThresholdedRelu", cheap, reads_input),
  };
}

}  // namespace strato
