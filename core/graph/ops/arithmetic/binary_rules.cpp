#include "core/graph/ops/arithmetic/binary_rules.h"

#include <algorithm>

#include "core/graph/rules/work_rules.h"

namespace strato {
namespace {

OpRule binary(std::string_view type, double flops, Linearity linear, GradientRule gradient_rule) {
  return {.type = type,
          .family = OpFamily::Elementwise,
          .min_inputs = 2,
          .shape = shape_broadcast,
          .flops = per_element(flops),
          .batch = batch_aligned,
          .linear = linear,
          .gradient = std::move(gradient_rule),
          .differentiable = inputs({0, 1})};
}

// Any number of operands: one less operation per element than operands.
OpRule variadic(std::string_view type, Linearity linear, GradientRule gradient_rule) {
  OpRule rule = binary(type, 1, linear, std::move(gradient_rule));
  rule.min_inputs = 1;
  rule.flops = [](const OpReader& op) {
    return op.elements() * static_cast<double>(std::max<std::size_t>(2, op.input_count()) - 1);
  };
  rule.differentiable = all_inputs;
  return rule;
}

OpRule binary_predicate(std::string_view type) {
  OpRule rule = binary(type, 1, Linearity::None, nullptr);
  rule.shape = shape_broadcast_bool;
  return rule;
}

// The gradient reads operand and result to tell which operand was the largest, at each element.
void extreme_gradient(GradientWriter& writer) {
  for (std::size_t i = 0; i < writer.forward().input_count(); ++i) {
    if (writer.wants(i)) writer.add("Grad", "grad", {x(i), y(0)}, {i});
  }
}

OpRule where() {
  OpRule rule = binary("Where", 1, Linearity::None,
                       gradients({{"GradA", "grad_a", 1, {x(0)}}, {"GradB", "grad_b", 2, {x(0)}}}));
  rule.min_inputs = 3;
  rule.differentiable = inputs({1, 2});
  return rule;
}

}  // namespace

OpRules binary_rules() {
  using enum Linearity;
  const GradientRule subtract =
      gradients({{"GradA", "grad_a", 0, {}, true}, {"GradB", "grad_b", 1, {}}});
  const auto integer = [](std::string_view type) { return binary(type, 1, None, nullptr); };
  return {
      binary("Add", 1, Joint, passed_gradient),
      variadic("AddN", Joint, passed_gradient),
      binary_predicate("And"),
      integer("BitShift"),
      integer("BitwiseAnd"),
      integer("BitwiseOr"),
      integer("BitwiseXor"),
      binary("Div", 1, First, operand_gradients({x(1)}, {x(0), x(1)})),
      binary_predicate("Equal"),
      binary_predicate("Greater"),
      binary_predicate("GreaterOrEqual"),
      binary_predicate("Less"),
      binary_predicate("LessOrEqual"),
      variadic("Max", None, extreme_gradient),
      variadic("Mean", Joint, gradient()),
      variadic("Min", None, extreme_gradient),
      binary("Mod", 1, None, gradients({{"GradA", "grad_a", 0, {}, true}})),
      binary("Mul", 1, Each, operand_gradients({x(1)}, {x(0)})),
      binary_predicate("Or"),
      binary("Pow", 10, None, operand_gradients({x(0), x(1)}, {x(0), x(1), y(0)})),
      binary("Sub", 1, Joint, subtract),
      variadic("Sum", Joint, passed_gradient),
      where(),
      binary_predicate("Xor"),
  };
}

}  // namespace strato
