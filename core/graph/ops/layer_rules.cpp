#include "core/graph/ops/layer_rules.h"

#include <algorithm>

namespace strato {
namespace {

// ---- normalisations and softmax

// Statistics are of each channel (axis 1) over the samples, or over each sample of them.
AxesRule channel_axes(bool over_samples) {
  const auto like_first = kept_axes(
      [=](const OpReader&, int axis) { return axis >= 2 || (axis == 0 && over_samples); });
  return [=](const OpReader& op) {
    auto result = like_first(op);
    const std::string channel = letters_of(2).substr(1);
    for (std::size_t i = 1; i < result->inputs.size(); ++i)
      if (result->inputs[i].size() == 1) result->inputs[i] = channel;
    for (std::string& output : result->outputs)
      if (output.size() == 1) output = channel;
    return result;
  };
}

OpRule normalization(double flops, InputSet differentiable, BatchRule batch = nullptr,
                     AxesRule axes = nullptr) {
  return {.family = OpFamily::Normalization,
          .axes = std::move(axes),
          .flops = per_element(flops),
          .batch = std::move(batch),
          .gradient = gradient({x(0), x(1)}),
          .differentiable = differentiable,
          .side_outputs = true};
}

// From the axis of attribute "axis" on: the last one where it is not given.
bool mixes_from_axis(const OpReader& op, int axis) {
  return axis >= op.axis("axis", -1, op.in(0).size());
}

OpRule softmax(GradientRule gradient_rule) {
  return keeping_axes({.family = OpFamily::Softmax,
                       // maximum, subtract, exponent (10), sum and divide
                       .flops = per_element(13),
                       .gradient = std::move(gradient_rule)},
                      mixes_along(-1));
}

// x, residual, scale, shift (com.microsoft): the sum of the first two is normalised, and is the
// last of the outputs.
OpRule skip_normalization() {
  const auto batch = [](BatchFlow& flow) {
    const int axis = flow.axis(0);
    return flow.on_if(axis >= 0 && axis < 2 && flow.requires_batch(1, axis), axis);
  };
  OpRule rule = normalization(9, inputs({0, 1, 2, 3}), batch, kept_axes(mixes_from_axis, 2));
  rule.min_inputs = 3;
  rule.shape = [](const OpReader& op) -> TensorTypes {
    const TensorType sum = {op.input(0).type, op.in(0)};
    TensorType statistic = {DataType::F32, op.in(0)};
    if (!statistic.shape.empty()) statistic.shape.back() = 1;
    return {sum, statistic, statistic, sum};
  };
  rule.gradient = gradient({x(0), x(1), x(2)});
  return rule;
}

OpRule local_response() {
  OpRule rule = normalization(0, inputs({0}), batch_kept(mixes_all_but_first));
  rule.flops = [](const OpReader& op) {
    return op.elements() * (2 * static_cast<double>(op->integer("size", 5)) + 12);
  };
  rule.gradient = gradient({x(0), y(0)});
  return rule;
}

// ---- pooling

// Indices of several outputs count across the channels.
std::optional<AxisLetters> pooled_axes(const OpReader& op) {
  if (op.output_count() > 1) return std::nullopt;
  return kept_axes([](const OpReader&, int axis) { return axis >= 2; })(op);
}

OpRule pooling(ShapeRule shape, FlopsRule flops, bool side_outputs, GradientRule gradient_rule) {
  return {.family = OpFamily::Pooling,
          .shape = std::move(shape),
          .axes = pooled_axes,
          .flops = std::move(flops),
          .batch = batch_kept(mixes_all_but_first),
          .gradient = std::move(gradient_rule),
          .side_outputs = side_outputs};
}

OpRule window_pooling(GradientRule gradient_rule) {
  const auto flops = [](const OpReader& op) {
    return op.elements() * product(op->integers("kernel_shape"));
  };
  return pooling(shape_pool, flops, true, std::move(gradient_rule));
}

OpRule global_pooling(GradientRule gradient_rule) {
  return pooling(shape_global_pool, per_input_element(1), false, std::move(gradient_rule));
}

// x [samples, channels, height, width], regions [regions, 4], their samples
OpRule region_pooling() {
  return {.family = OpFamily::Pooling,
          .min_inputs = 2,
          .shape =
              [](const OpReader& op) {
                auto pooled = op->integers("pooled_shape");
                if (pooled.size() != 2)
                  pooled = {op->integer("output_height", 1), op->integer("output_width", 1)};
                return typed_like_first(
                    op, {extent(op.in(1), 0), extent(op.in(0), 1), pooled[0], pooled[1]});
              },
          .flops = per_element(32),
          .gradient = gradient({x(1), x(2)})};
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
  return batch_by(aligned_axes)(flow) ? BatchAnswer(partial()) : std::nullopt;
}

// The gradient is (softmax - label): it reads the log-probabilities when they are kept.
void cross_entropy_gradient(GradientWriter& writer) {
  gradient({writer.forward().has_output(1) ? y(1) : x(0), x(1)})(writer);
}

// The loss itself is a sum; its gradient is made element by element, or class vector by class
// vector.
std::optional<AxisLetters> class_loss_axes(const OpReader& op) {
  AxisLetters result = all_mixed(op);
  const std::size_t rank = op.in(0).size();
  const int classes = op.axis("axis", 1, rank);
  result.inputs[0] = letters_of(rank, [=](int axis) { return axis == classes; });
  std::string labels = result.inputs[0];
  std::erase(labels, AxisLetters::kMixed);
  if (result.inputs.size() > 1 && result.inputs[1].size() == labels.size())
    result.inputs[1] = labels;
  for (std::string& output : result.outputs) {
    if (output.size() == rank && rank > 0) output = result.inputs[0];
    if (output.size() == labels.size()) output = labels;
  }
  return result;
}

OpRule loss(double flops, ShapeRule shape, AxesRule axes, BatchRule batch,
            GradientRule gradient_rule) {
  return {.family = OpFamily::Loss,
          .min_inputs = 2,
          .shape = std::move(shape),
          .axes = std::move(axes),
          .flops = per_input_element(flops),
          .batch = std::move(batch),
          .gradient = std::move(gradient_rule),
          .side_outputs = true};
}

OpRule update(std::size_t inputs, double flops) {
  return {.family = OpFamily::Update,
          .min_inputs = inputs,
          .axes = kept_axes(nullptr, SIZE_MAX),
          .flops = per_input_element(flops)};
}

}  // namespace

OpRules layer_rules() {
  const InputSet scale_and_shift = inputs({0, 1, 2}), scale_only = inputs({0, 1});
  const MixesAxis mixes_channels = [](const OpReader&, int axis) { return axis == 1; };
  const BatchRule first = batch_kept(mixes_all_but_first);
  const GradientRule of_both = gradient({x(0), y(0)});
  return {
      // Inputs 3 and 4, the running mean and variance, are not trained.
      {{"BatchNormalization"},
       normalization(5, scale_and_shift, batch_kept(mixes_channels), channel_axes(true))},
      {{"GroupNormalization"}, normalization(8, scale_and_shift, first)},
      {{"InstanceNormalization"}, normalization(8, scale_and_shift, first, channel_axes(false))},
      {{"LayerNormalization"}, keeping_axes(normalization(8, scale_and_shift), mixes_from_axis)},
      {{"RMSNormalization", "SimplifiedLayerNormalization"},
       keeping_axes(normalization(5, scale_only), mixes_from_axis)},
      {{"LpNormalization"}, keeping_axes(normalization(4, inputs({0})), mixes_along(-1))},
      {{"MeanVarianceNormalization"}, normalization(6, inputs({0}), first)},
      {{"LRN"}, local_response()},
      {{"SkipLayerNormalization", "SkipSimplifiedLayerNormalization"}, skip_normalization()},
      {{"Hardmax"}, softmax(nullptr)},
      {{"LogSoftmax", "Softmax"}, softmax(gradient({y(0)}))},
      {{"AveragePool"}, window_pooling(gradient())},
      {{"LpPool", "MaxPool"}, window_pooling(of_both)},
      {{"GlobalAveragePool"}, global_pooling(gradient())},
      {{"GlobalLpPool", "GlobalMaxPool"}, global_pooling(of_both)},
      {{"MaxRoiPool", "RoiAlign"}, region_pooling()},
      {{"QLinearAveragePool"}, pooling(shape_pool, per_input_element(1), false, nullptr)},
      {{"QLinearGlobalAveragePool"}, global_pooling(nullptr)},
      {{"GRU"}, recurrent(4)},   // three gates, the candidate's hidden part
      {{"LSTM"}, recurrent(5)},  // four gates, the cell state
      {{"RNN"}, recurrent(1)},
      {{"MeanSquaredLoss"},
       loss(3, scalar, aligned_axes, value_loss_batch, gradient({x(0), x(1)}))},
      {{"NegativeLogLikelihoodLoss"},
       loss(1, class_loss_shape, class_loss_axes, class_loss_batch, gradient({x(1)}))},
      {{"SoftmaxCrossEntropy"},
       loss(14, scalar, class_loss_axes, class_loss_batch, cross_entropy_gradient)},
      {{"SoftmaxCrossEntropyLoss"},
       loss(14, class_loss_shape, class_loss_axes, class_loss_batch, cross_entropy_gradient)},
      // FLOPs per element are those of the textbook formula.
      {{"ApplyAdam"}, update(4, 12)},
      {{"ApplyMomentum"}, update(3, 4)},
      {{"ApplySgd"}, update(2, 2)},
  };
}

}  // namespace strato
