#include "core/graph/ops/elementwise_rules.h"

#include <algorithm>
#include <array>

namespace strato {
namespace {

constexpr double cheap = 1, costly = 10;

OpRule unary(double flops, GradientRule gradient_rule) {
  return {.family = OpFamily::Elementwise,
          .axes = aligned_axes,
          .flops = per_element(flops),
          .batch = batch_by(aligned_axes),
          .gradient = std::move(gradient_rule)};
}

OpRule binary(double flops, Linearity linear, GradientRule gradient_rule) {
  OpRule rule = unary(flops, std::move(gradient_rule));
  rule.min_inputs = 2;
  rule.shape = shape_broadcast;
  rule.linear = linear;
  rule.differentiable = inputs({0, 1});
  return rule;
}

// Any number of operands: one less operation per element than operands.
OpRule variadic(Linearity linear, GradientRule gradient_rule) {
  OpRule rule = binary(1, linear, std::move(gradient_rule));
  rule.min_inputs = 1;
  rule.flops = [](const OpReader& op) {
    return op.elements() * static_cast<double>(std::max<std::size_t>(2, op.input_count()) - 1);
  };
  rule.differentiable = all_inputs;
  return rule;
}

OpRule predicate(std::size_t operands) {
  OpRule rule = operands == 1 ? unary(1, nullptr) : binary(1, Linearity::None, nullptr);
  rule.shape = [](const OpReader& op) -> TensorTypes {
    return {{DataType::Bool, shape_broadcast(op)[0].shape}};
  };
  return rule;
}

// The gradient reads the mask, a byte per element, which the forward op keeps for it.
OpRule dropout() {
  OpRule rule = unary(2, [](GradientWriter& writer) {
    const OpReader& forward = writer.forward();
    const std::size_t mask =
        forward.has_output(1) ? 1 : writer.save_output("mask", DataType::Bool, forward.in(0));
    gradient({y(mask)})(writer);
  });
  rule.side_outputs = true;
  return rule;
}

OpRule linear(ShapeRule shape) {
  OpRule rule = unary(cheap, gradient());
  rule.shape = std::move(shape);
  rule.linear = Linearity::Joint;
  return rule;
}

TensorTypes cast_shape(const OpReader& op) {
  using enum DataType;
  // By ONNX's TensorProto.DataType.
  constexpr std::array types = {F32,  F32, U8,  I8,  I16, I16, I32, I64, F32,
                                Bool, F16, F64, I32, I64, F32, F32, BF16};
  const auto to = static_cast<std::uint64_t>(op->integer("to", 1));
  return {{to < types.size() ? types[to] : F32, op.in(0)}};
}

// The gradient reads operand and result to tell which operand was the largest, at each element.
void extreme_gradient(GradientWriter& writer) {
  for (const std::size_t i : writer.wanted()) writer.add("Grad", "grad", {x(i), y(0)}, {i});
}

OpRule where() {
  OpRule rule = binary(1, Linearity::None,
                       gradients({{"GradA", "grad_a", 1, {x(0)}}, {"GradB", "grad_b", 2, {x(0)}}}));
  rule.min_inputs = 3;
  rule.shape = [](const OpReader& op) -> TensorTypes {
    return {{op.input(1).type, shape_broadcast(op)[0].shape}};
  };
  rule.differentiable = inputs({1, 2});
  return rule;
}

// Of two quantised tensors: the second is behind the first's scale and zero point. Both with
// samples, or the second without.
OpRule quantized_binary() {
  constexpr std::size_t second = 3;
  return {.min_inputs = second + 1,
          .shape =
              [](const OpReader& op) {
                return typed_like_first(op, broadcast_shape(op.in(0), op.in(second)));
              },
          .flops = per_element(3),
          .batch =
              [](BatchFlow& flow) {
                const int axis = flow.axis(0);
                const bool alike = flow.op.in(0).size() == flow.op.in(second).size();
                const bool fits =
                    alike ? axis >= 0 && flow.requires_batch(second, axis) : flow.axis(second) < 0;
                return flow.on_if(axis >= 0 && fits, axis);
              }};
}

OpRule quantized_alike(double flops, MixesAxis mixes = nullptr) {
  return {.flops = per_element(flops), .batch = batch_kept(std::move(mixes))};
}

// ---- reductions

bool keeps_axes(const OpReader& op) { return op->integer("keepdims", 1) != 0; }

// What is left of `axes`, one for each of the input's: `kept` in place of one that is reduced.
template <class Axes>
Axes reduced(const OpReader& op, const Axes& axes, typename Axes::value_type kept) {
  const std::vector<int> gone = reduced_axes(op);
  Axes result;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const bool leaves = std::ranges::binary_search(gone, static_cast<int>(i));
    if (!leaves || keeps_axes(op)) result.push_back(leaves ? kept : axes[i]);
  }
  return result;
}

Shape reduced_shape(const OpReader& op) { return reduced(op, op.in(0), 1); }

std::optional<AxisLetters> reduced_letters(const OpReader& op) {
  if (op.has_input(1) && !op.constant(1)) return std::nullopt;
  AxisLetters result = all_mixed(op);
  result.inputs[0] = letters_of(op.in(0).size());
  set_outputs(result, reduced(op, result.inputs[0], AxisLetters::kMixed));
  return result;
}

// Over the batch: a sum when `sums`.
BatchRule batch_reduced(bool sums) {
  return [sums](BatchFlow& flow) -> BatchAnswer {
    const int axis = flow.axis(0);
    if (axis < 0) return std::nullopt;
    const std::vector<int> axes = reduced_axes(flow.op);
    if (std::ranges::binary_search(axes, axis)) return sums ? BatchAnswer(partial()) : std::nullopt;
    const auto before = std::ranges::lower_bound(axes, axis) - axes.begin();
    return flow.on(keeps_axes(flow.op) ? axis : axis - static_cast<int>(before));
  };
}

OpRule reduction(bool sums, Linearity linear, std::vector<Saved> reads) {
  return {.family = OpFamily::Reduction,
          .shape = [](const OpReader& op) -> TensorTypes {
            if (op.has_input(1) && !op.constant(1)) return {};
            return typed_like_first(op, reduced_shape(op));
          },
          .axes = reduced_letters,
          .flops = per_input_element(1),
          .batch = batch_reduced(sums),
          .linear = linear,
          .gradient = gradient(std::move(reads))};
}

OpRule arg_reduction() {
  OpRule rule = reduction(false, Linearity::None, {});
  rule.shape = [](const OpReader& op) -> TensorTypes {
    return {{DataType::I64, reduced_shape(op)}};
  };
  rule.gradient = nullptr;
  return rule;
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

OpRules elementwise_rules() {
  using enum Linearity;
  const GradientRule of_input = gradient({x(0)}), of_output = gradient({y(0)});
  const GradientPart first = {"GradA", "grad_a", 0, {}, true}, second = {"GradB", "grad_b", 1, {}};
  return {
      {{"Abs", "Clip", "ThresholdedRelu"}, unary(cheap, of_input)},
      {{"BitwiseNot", "Ceil", "Floor", "Round", "Sign"}, unary(cheap, nullptr)},
      {{"Reciprocal", "Relu", "Sqrt"}, unary(cheap, of_output)},
      // Scales may belong to an axis that only an attribute tells.
      {{"DequantizeLinear", "DynamicQuantizeLinear", "QuantizeLinear"},
       quantized(unary(2, nullptr))},
      {{"HardSigmoid", "Shrink", "Softsign"}, unary(2, of_input)},
      {{"LeakyRelu"}, unary(2, of_output)},
      {{"HardSwish"}, unary(3, of_input)},
      {{"Acos",      "Acosh", "Asin", "Asinh", "Atan",     "Atanh", "BiasGelu",
        "Celu",      "Cos",   "Cosh", "Erf",   "FastGelu", "Gelu",  "Log",
        "QuickGelu", "Silu",  "Sin",  "Sinh",  "Softplus", "Swish"},
       unary(costly, of_input)},
      {{"Elu", "Exp", "Selu", "Sigmoid", "Tan", "Tanh"}, unary(costly, of_output)},
      {{"Mish"}, unary(2 * costly, of_input)},
      {{"CastLike", "Neg"}, linear(nullptr)},
      {{"Cast"}, linear(cast_shape)},
      {{"Dropout"}, dropout()},
      {{"PRelu"},
       binary(2, None,
              gradients({{"GradInput", "grad_input", 0, {x(0), x(1)}},
                         {"GradWeight", "grad_weight", 1, {x(0)}}}))},
      {{"IsInf", "IsNaN", "Not"}, predicate(1)},
      {{"And", "Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual", "Or", "Xor"},
       predicate(2)},
      {{"BitShift", "BitwiseAnd", "BitwiseOr", "BitwiseXor"}, binary(1, None, nullptr)},
      {{"Add"}, binary(1, Joint, passed_gradient)},
      {{"Sub"}, binary(1, Joint, gradients({first, second}))},
      {{"Mul"}, binary(1, Each, operand_gradients({x(1)}, {x(0)}))},
      {{"Div"}, binary(1, First, operand_gradients({x(1)}, {x(0), x(1)}))},
      {{"Mod"}, binary(1, None, gradients({first}))},
      {{"Pow"}, binary(10, None, operand_gradients({x(0), x(1)}, {x(0), x(1), y(0)}))},
      {{"AddN", "Sum"}, variadic(Joint, passed_gradient)},
      {{"Max", "Min"}, variadic(None, extreme_gradient)},
      {{"Mean"}, variadic(Joint, gradient())},
      {{"Where"}, where()},
      {{"Bernoulli"}, unary(2, nullptr)},
      {{"QLinearAdd", "QLinearMul"}, quantized_binary()},
      {{"QLinearLeakyRelu"}, quantized_alike(3)},
      {{"QLinearSigmoid"}, quantized_alike(12)},
      {{"QLinearSoftmax"}, quantized_alike(15, mixes_along(-1))},

      {{"ArgMax", "ArgMin"}, arg_reduction()},
      {{"CumSum"}, cumulative_sum()},
      {{"ReduceL1", "ReduceSumSquare"}, reduction(true, None, {x(0)})},
      {{"ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMin", "ReduceProd"},
       reduction(false, None, {x(0), y(0)})},
      {{"ReduceMean", "ReduceSum"}, reduction(true, Joint, {})},
  };
}

}  // namespace strato
