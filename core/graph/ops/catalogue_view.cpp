// Views: other shapes of the same bytes. No work, no memory; their gradients are views too.
#include "core/graph/ops/catalogue_rows.h"
#include "core/graph/rules/op_rule.h"

namespace strato {
namespace {

OpRule view(std::string_view type, ShapeRule shape) {
  return {.type = type,
          .family = OpFamily::View,
          .shape = std::move(shape),
          .batch = batch_reshaped,
          .linear = Linearity::Joint,
          .gradient = gradient(),
          .unread = all_inputs,
          .view = true};
}

OpRule pass_through(std::string_view type) {
  OpRule rule = view(type, shape_like_first);
  rule.gradient = passed_gradient;
  return rule;
}

}  // namespace

OpRules view_rules() {
  return {
      view("Flatten", shape_flattened), view("Reshape", shape_reshaped),
      view("Squeeze", shape_squeezed),  view("Unsqueeze", shape_unsqueezed),
      pass_through("Identity"),         pass_through("NoOp"),
  };
}

}  // namespace strato
