#include "core/graph/ops/layers/loss_rules.h"

#include "core/graph/rules/work_rules.h"

namespace strato {
namespace {

bool keeps_samples(const OpReader& op) { return op->text("reduction", "mean") == "none"; }

TensorTypes class_loss_shape(const OpReader& op) {
  const DataType type = op.input(0).type;
  return {{type, keeps_samples(op) ? op.in(1) : Shape{}}, {type, op.in(0)}};
}

BatchAnswer class_loss_batch(BatchFlow& flow) {
  const int axis = flow.axis(0), classes = flow.op.axis("axis", 1, flow.op.in(0).size());
  const int of_labels = axis < classes ? axis : axis - 1;
  if (axis < 0 || axis == classes || !flow.requires_batch(1, of_labels)) return std::nullopt;
  flow.set(1, flow.on(axis));
  return keeps_samples(flow.op) ? flow.on(of_labels) : partial();
}

BatchAnswer value_loss_batch(BatchFlow& flow) {
  const BatchAnswer aligned = batch_aligned(flow);
  return aligned ? BatchAnswer(partial()) : std::nullopt;
}

// The gradient is (softmax - label): it reads the log-probabilities when they are kept.
void cross_entropy_gradient(GradientWriter& writer) {
  gradient({writer.forward().has_output(1) ? y(1) : x(0), x(1)})(writer);
}

OpRule loss(std::string_view type, double flops, ShapeRule shape, BatchRule batch,
            GradientRule gradient_rule) {
  return {.type = type,
          .family = OpFamily::Loss,
          .min_inputs = 2,
          .shape = std::move(shape),
          .flops = per_input_element(flops),
          .batch = std::move(batch),
          .gradient = std::move(gradient_rule),
          .side_outputs = true};
}

}  // namespace

OpRules loss_rules() {
  return {
      loss("MeanSquaredLoss", 3, shape_scalar, value_loss_batch, gradient({x(0), x(1)})),
      loss("NegativeLogLikelihoodLoss", 1, class_loss_shape, class_loss_batch, gradient({x(1)})),
      loss("SoftmaxCrossEntropy", 14, shape_scalar, class_loss_batch, cross_entropy_gradient),
      loss("SoftmaxCrossEntropyLoss", 14, class_loss_shape, class_loss_batch,
           cross_entropy_gradient),
  };
}

}  // namespace strato
