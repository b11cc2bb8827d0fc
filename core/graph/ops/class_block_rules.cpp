#include "core/graph/ops/class_block_rules.h"

#include <algorithm>

namespace strato {
namespace {

constexpr double kExponentials = 14, kOfBlocks = 10;  // FLOPs a score, and a sum of a block

DataType type_of_sums(const OpReader& op) {
  return op.input(0).type == DataType::F64 ? DataType::F64 : DataType::F32;
}

TensorTypes block_shapes(const OpReader& op) {
  Shape shape = op.in(0);
  if (shape.empty()) return {};
  shape.back() = std::clamp<std::int64_t>(op->integer("blocks", 1), 1, shape.back());
  return {{type_of_sums(op), shape}, {type_of_sums(op), shape}};
}

TensorTypes loss_shape(const OpReader& op) { return {{type_of_sums(op), {}}}; }

// Classes, and blocks of them, have one letter; the axes of the labels are those in front.
AxisLetters class_axes(const OpReader& op, bool mixes_classes) {
  AxisLetters result = all_mixed(op);
  const int classes = static_cast<int>(op.in(0).size()) - 1;
  const std::string all =
      letters_of(op.in(0).size(), [=](int axis) { return mixes_classes && axis == classes; });
  const std::string labels = all.substr(0, all.empty() ? 0 : all.size() - 1);
  for (std::string& input : result.inputs)
    if (input.size() == all.size())
      input = all;
    else if (input.size() == labels.size())
      input = labels;
  set_outputs(result, all);
  return result;
}

BatchAnswer block_batch(BatchFlow& flow) {
  const int axis = flow.axis(0), classes = static_cast<int>(flow.op.in(0).size()) - 1;
  const bool follows = axis >= 0 && axis < classes && flow.requires_batch(1, axis);
  return flow.on_if(follows, axis);
}

BatchAnswer loss_batch(BatchFlow& flow) {
  const int axis = flow.axis(0);
  const bool follows = axis >= 0 && flow.requires_batch(1, axis) && flow.requires_batch(2, axis);
  return follows ? BatchAnswer(partial()) : std::nullopt;
}

}  // namespace

OpRules class_block_rules() {
  return {
      {{"BlockLogSumExp"},
       {.family = OpFamily::Softmax,
        .min_inputs = 2,
        .shape = block_shapes,
        .axes = [](const OpReader& op) { return class_axes(op, false); },
        .flops = per_input_element(kExponentials),
        .batch = block_batch,
        .gradient = gradient({x(0), x(1), y(0)})}},
      {{"BlockCrossEntropy"},
       {.family = OpFamily::Loss,
        .min_inputs = 3,
        .shape = loss_shape,
        .axes =
            [](const OpReader& op) {
              AxisLetters letters = class_axes(op, true);
              letters.outputs.assign(op.output_count(), "");
              return letters;
            },
        .flops = per_input_element(kOfBlocks),
        .batch = loss_batch,
        .gradient = gradient({x(0), x(2)}),
        .differentiable = inputs({0, 1})}},
  };
}

}  // namespace strato
