#include "core/graph/ops/layout/movement_rules.h"

#include <algorithm>

#include "core/graph/rules/work_rules.h"

namespace strato {
namespace {

BatchAnswer transposed(BatchFlow& flow) {
  const int axis = flow.axis(0), rank = static_cast<int>(flow.op.in(0).size());
  if (axis < 0) return std::nullopt;
  const auto permutation = flow.op->integers("perm");
  if (permutation.empty()) return flow.on(rank - 1 - axis);
  const auto found = std::find(permutation.begin(), permutation.end(), axis);
  if (found == permutation.end()) return std::nullopt;
  return flow.on(static_cast<int>(found - permutation.begin()));
}

BatchAnswer concatenated(BatchFlow& flow) {
  int axis = -1;
  for (std::size_t i = 0; i < flow.op.input_count() && axis < 0; ++i) axis = flow.axis(i);
  bool follows = axis >= 0 && axis != flow.op.axis("axis", 0, flow.op.out().size());
  for (std::size_t i = 0; i < flow.op.input_count(); ++i) {
    follows = flow.requires_batch(i, axis) && follows;
  }
  return follows ? BatchAnswer(flow.on(axis)) : std::nullopt;
}

BatchAnswer expanded(BatchFlow& flow) {
  if (flow.axis(0) < 0) return std::nullopt;
  const int shift = static_cast<int>(flow.op.out().size()) - static_cast<int>(flow.op.in(0).size());
  const int axis = flow.axis(0) + shift;
  const bool same = extent(flow.op.out(), axis) == extent(flow.op.in(0), flow.axis(0));
  return same ? BatchAnswer(flow.on(axis)) : std::nullopt;
}

// All gradients read the output's gradient only; what is not the first input says where elements
// go.
OpRule movement(std::string_view type, ShapeRule shape, BatchRule batch) {
  return {.type = type,
          .family = OpFamily::DataMovement,
          .shape = std::move(shape),
          .batch = std::move(batch),
          .linear = Linearity::Joint,
          .gradient = gradient()};
}

OpRule concatenation(std::string_view type) {
  OpRule rule = movement(type, shape_concatenated, concatenated);
  rule.differentiable = all_inputs;
  return rule;
}

OpRule partial_read(std::string_view type) {
  OpRule rule = movement(type, nullptr, batch_kept());
  rule.lookups = inputs({0});
  return rule;
}

OpRule interpolation(std::string_view type) {
  OpRule rule = movement(type, nullptr, batch_kept());
  rule.flops = per_element(8);  // a weighted mean of four
  return rule;
}

// Makes its output from a shape or from nothing.
OpRule source(std::string_view type) {
  return {.type = type, .family = OpFamily::DataMovement, .min_inputs = 0, .unread = all_inputs};
}

}  // namespace

OpRules movement_rules() {
  return {
      partial_read("CenterCropPad"),
      concatenation("Concat"),
      source("Constant"),
      source("ConstantOfShape"),
      movement("DepthToSpace", nullptr, batch_kept(mixes_all_but_first)),
      movement("Expand", shape_expanded, expanded),
      source("EyeLike"),
      movement("Pad", nullptr, batch_kept()),
      source("RandomNormal"),
      source("RandomNormalLike"),
      source("RandomUniform"),
      source("RandomUniformLike"),
      source("Range"),
      interpolation("Resize"),
      source("Shape"),
      source("Size"),
      partial_read("Slice"),
      movement("SpaceToDepth", nullptr, batch_kept(mixes_all_but_first)),
      movement("Split", nullptr, batch_kept(mixes_along("axis", 0))),
      movement("Tile", nullptr, batch_kept()),
      movement("Transpose", shape_transposed, transposed),
      movement("Trilu", nullptr, batch_kept(mixes_last_two)),
      interpolation("Upsample"),
  };
}

}  // namespace strato
