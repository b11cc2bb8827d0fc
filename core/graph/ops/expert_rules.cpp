#include "core/graph/ops/expert_rules.h"

#include <algorithm>

namespace strato {
namespace {

TensorTypes dispatched_shape(const OpReader& op) {
  constexpr std::int64_t kMost = std::int64_t{1} << 20;
  const auto count = [&](std::string_view attribute) {
    return std::clamp<std::int64_t>(op->integer(attribute, 1), 1, kMost);
  };
  return typed_like_first(
      op, {extent(op.in(0), 0), count("experts"), count("capacity"), extent(op.in(0), 2)});
}

TensorTypes combined_shape(const OpReader& op) {
  return typed_like_first(op, {extent(op.in(1), 0), extent(op.in(1), 1), extent(op.in(0), 3)});
}

// Experts and elements of a token are taken apart; positions and places are not.
constexpr const char *kTokens = "..d", *kOfExperts = ".e.d";

std::optional<AxisLetters> lettered_axes(const OpReader& op, const char* first,
                                         const char* output) {
  AxisLetters letters = all_mixed(op);
  if (letters.inputs[0].size() == std::string_view(first).size()) letters.inputs[0] = first;
  set_outputs(letters, output);
  return letters;
}

OpRule expert_rule(ShapeRule shape, const char* first, const char* output, InputSet samples) {
  return {.family = OpFamily::DataMovement,
          .min_inputs = 2,
          .shape = std::move(shape),
          .axes = [=](const OpReader& op) { return lettered_axes(op, first, output); },
          .batch = samples_first(samples)};
}

OpRule dispatch() {
  OpRule rule = expert_rule(dispatched_shape, kTokens, kOfExperts, inputs({1}));
  rule.gradient = gradient({x(1)});
  return rule;
}

OpRule combination() {
  OpRule rule = expert_rule(combined_shape, kOfExperts, kTokens, inputs({1, 2}));
  rule.min_inputs = 3;
  rule.flops = [](const OpReader& op) {
    return 2 * op.elements() * static_cast<double>(extent(op.in(1), 2));
  };
  rule.gradient = gradients({{"GradResults", "grad_results", 0, {x(1), x(2)}},
                             {"GradWeights", "grad_weights", 2, {x(0), x(1)}}});
  rule.differentiable = inputs({0, 2});
  return rule;
}

}  // namespace

OpRules expert_rules() {
  return {{{"CombineTokens"}, combination()}, {{"DispatchTokens"}, dispatch()}};
}

}  // namespace strato
