#include "core/graph/ops/layers/recurrent_rules.h"

#include <algorithm>

#include "core/graph/rules/work_rules.h"

namespace strato {
namespace {

bool batch_first(const OpReader& op) { return op->integer("layout", 0) != 0; }

double recurrent_flops(const OpReader& op) {
  const double steps_and_samples = product(op.in(0), 0, 2);
  return 2 * steps_and_samples * (product(op.in(1)) + product(op.in(2)));
}

int recurrent_kernels(const OpReader& op) {
  const std::int64_t steps = extent(op.in(0), batch_first(op) ? 1 : 0);
  return static_cast<int>(1 + 2 * std::min<std::int64_t>(steps, 1 << 20) * extent(op.in(1), 0));
}

// Inputs: X, W, R, B, lengths, initial state(s).
BatchAnswer recurrent_batch(BatchFlow& flow) {
  const bool first = batch_first(flow.op);
  const int of_input = first ? 0 : 1;
  bool follows = flow.axis(0) == of_input;
  for (const std::size_t weights : {1, 2, 3, 7}) follows = follows && flow.axis(weights) < 0;
  follows = flow.requires_batch(4, 0) && follows;
  for (const std::size_t state : {5, 6}) follows = flow.requires_batch(state, of_input) && follows;
  if (!follows) return std::nullopt;
  for (std::size_t i = 1; i < flow.op.output_count(); ++i) {
    if (flow.op.out(i).size() == 3) flow.set(i, flow.on(of_input));
  }
  return flow.on(first ? 0 : 2);
}

GradientRule recurrent_gradient(std::int64_t saved_per_unit) {
  return [saved_per_unit](GradientWriter& writer) {
    const OpReader& forward = writer.forward();
    Shape reserve = shape_recurrent(forward)[0].shape;
    reserve.back() *= saved_per_unit;
    const std::size_t saved = writer.save_output("reserve", forward.input(0).type, reserve);
    gradient({x(0), x(1), x(2), x(4), x(5), x(6), y(0), y(saved)})(writer);
  };
}

OpRule recurrent(std::string_view type, std::int64_t saved_per_unit) {
  return {.type = type,
          .family = OpFamily::Recurrent,
          .min_inputs = 3,
          .shape = shape_recurrent,
          .flops = recurrent_flops,
          .batch = recurrent_batch,
          .gradient = recurrent_gradient(saved_per_unit),
          .differentiable = inputs({0, 1, 2, 3, 5, 6, 7}),
          .gradient_work = 2,
          .kernels = recurrent_kernels};
}

}  // namespace

OpRules recurrent_rules() {
  return {
      recurrent("GRU", 4),   // three gates, the candidate's hidden part
      recurrent("LSTM", 5),  // four gates, the cell state
      recurrent("RNN", 1),
  };
}

}  // namespace strato
