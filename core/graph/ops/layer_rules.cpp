#include "core/graph/ops/layer_rules.h"

#include <algorithm>

#include "core/graph/rules/shape_rules.h"

namespace strato {
namespace {

OpRule pooling(ShapeRule shape, FlopsRule flops, bool side_outputs, std::vector<Saved> reads) {
  return {.family = OpFamily::Pooling,
          .shape = std::move(shape),
          .flops = std::move(flops),
          .batch = batch_kept(mixes_all_but_first),
          .gradient = gradient(std::move(reads)),
          .side_outputs = side_outputs};
}

OpRule window_pooling(std::vector<Saved> reads) {
  const auto flops = [](const OpReader& op) {
    return op.elements() * product(op->integers("kernel_shape"));
  };
  return pooling(shape_pool, flops, true, std::move(reads));
}

OpRule global_pooling(std::vector<Saved> reads) {
  return pooling(shape_global_pool, per_input_element(1), false, std::move(reads));
}

// ---- recurrent layers. Inputs: X, W, R, B, lengths, initial state(s).

bool batch_first(const OpReader& op) { return op->integer("layout", 0) != 0; }

// Y, Y_h and (LSTM) Y_c; "layout" 0 is [time, directions, batch, hidden].
TensorTypes recurrent_shape(const OpReader& op) {
  const bool first = batch_first(op);
  const std::int64_t time = extent(op.in(0), first ? 1 : 0);
  const std::int64_t batch = extent(op.in(0), first ? 0 : 1);
  const std::int64_t directions = extent(op.in(1), 0), hidden = extent(op.in(2), 2);
  const Shape all =
      first ? Shape{batch, time, directions, hidden} : Shape{time, directions, batch, hidden};
  const Shape last = first ? Shape{batch, directions, hidden} : Shape{directions, batch, hidden};
  const DataType type = op.input(0).type;
  return {{type, all}, {type, last}, {type, last}};
}

double recurrent_flops(const OpReader& op) {
  const double steps_and_samples = product(op.in(0), 0, 2);
  return 2 * steps_and_samples * (product(op.in(1)) + product(op.in(2)));
}

int recurrent_kernels(const OpReader& op) {
  const std::int64_t steps = extent(op.in(0), batch_first(op) ? 1 : 0);
  return static_cast<int>(1 + 2 * std::min<std::int64_t>(steps, 1 << 20) * extent(op.in(1), 0));
}

BatchAnswer recurrent_batch(BatchFlow& flow) {
  const int of_input = batch_first(flow.op) ? 0 : 1;
  bool follows = flow.axis(0) == of_input;
  for (const std::size_t weights : {1, 2, 3, 7}) follows = follows && flow.axis(weights) < 0;
  follows = flow.requires_batch(4, 0) && follows;
  for (const std::size_t state : {5, 6}) follows = flow.requires_batch(state, of_input) && follows;
  for (std::size_t i = 1; follows && i < flow.op.output_count(); ++i)
    if (flow.op.out(i).size() == 3) flow.set(i, flow.on(of_input));
  return flow.on_if(follows, 2 * of_input);
}

OpRule recurrent(std::int64_t saved_per_unit) {
  const auto write_gradient = [saved_per_unit](GradientWriter& writer) {
    const OpReader& forward = writer.forward();
    Shape reserve = recurrent_shape(forward)[0].shape;
    reserve.back() *= saved_per_unit;
    const std::size_t saved = writer.save_output("reserve", forward.input(0).type, reserve);
    gradient({x(0), x(1), x(2), x(4), x(5), x(6), y(0), y(saved)})(writer);
  };
  return {.family = OpFamily::Recurrent,
          .min_inputs = 3,
          .shape = recurrent_shape,
          .flops = recurrent_flops,
          .batch = recurrent_batch,
          .gradient = write_gradient,
          .differentiable = inputs({0, 1, 2, 3, 5, 6, 7}),
          .gradient_work = 2,
          .kernels = recurrent_kernels};
}

// ---- losses

TensorTypes scalar(const OpReader& op) { return typed_like_first(op, {}); }

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
  return batch_aligned(flow) ? BatchAnswer(partial()) : std::nullopt;
}

// The gradient is (softmax - label): it reads the log-probabilities when they are kept.
void cross_entropy_gradient(GradientWriter& writer) {
  gradient({writer.forward().has_output(1) ? y(1) : x(0), x(1)})(writer);
}

OpRule loss(double flops, ShapeRule shape, BatchRule batch, GradientRule gradient_rule) {
  return {.family = OpFamily::Loss,
          .min_inputs = 2,
          .shape = std::move(shape),
          .flops = per_input_element(flops),
          .batch = std::move(batch),
          .gradient = std::move(gradient_rule),
          .side_outputs = true};
}

OpRule update(std::size_t inputs, double flops) {
  return {.family = OpFamily::Update, .min_inputs = inputs, .flops = per_input_element(flops)};
}

}  // namespace

OpRules layer_rules() {
  return {
      {{"AveragePool"}, window_pooling({})},
      {{"LpPool", "MaxPool"}, window_pooling({x(0), y(0)})},
      {{"GlobalAveragePool"}, global_pooling({})},
      {{"GlobalLpPool", "GlobalMaxPool"}, global_pooling({x(0), y(0)})},
      {{"GRU"}, recurrent(4)},   // three gates, the candidate's hidden part
      {{"LSTM"}, recurrent(5)},  // four gates, the cell state
      {{"RNN"}, recurrent(1)},
      {{"MeanSquaredLoss"}, loss(3, scalar, value_loss_batch, gradient({x(0), x(1)}))},
      {{"NegativeLogLikelihoodLoss"},
       loss(1, class_loss_shape, class_loss_batch, gradient({x(1)}))},
      {{"SoftmaxCrossEntropy"}, loss(14, scalar, class_loss_batch, cross_entropy_gradient)},
      {{"SoftmaxCrossEntropyLoss"},
       loss(14, class_loss_shape, class_loss_batch, cross_entropy_gradient)},
      // FLOPs per element are those of the textbook formula.
      {{"ApplyAdam"}, update(4, 12)},
      {{"ApplyMomentum"}, update(3, 4)},
      {{"ApplySgd"}, update(2, 2)},
  };
}

}  // namespace strato
