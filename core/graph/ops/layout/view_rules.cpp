#include "core/graph/ops/layout/view_rules.h"

#include "core/graph/rules/work_rules.h"

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
