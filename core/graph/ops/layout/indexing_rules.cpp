#include "core/graph/ops/layout/indexing_rules.h"

#include "core/graph/rules/work_rules.h"

namespace strato {
namespace {

// out = data[:axis] + indices + data[axis + 1:]
BatchAnswer gathered(BatchFlow& flow) {
  const int data = flow.axis(0), indices = flow.axis(1);
  const int axis = flow.op.axis("axis", 0, flow.op.in(0).size());
  if (data >= 0 && indices >= 0) return std::nullopt;
  if (indices >= 0) return flow.on(axis + indices);
  if (data == axis) return std::nullopt;
  return flow.on(data < axis ? data : data - 1 + static_cast<int>(flow.op.in(1).size()));
}

// All inputs carry the batch on the same axis, which is not indexed.
BatchRule side_by_side(std::int64_t default_axis) {
  return [default_axis](BatchFlow& flow) -> BatchAnswer {
    int axis = -1;
    for (std::size_t i = 0; i < flow.op.input_count() && axis < 0; ++i) axis = flow.axis(i);
    bool follows = axis >= 0 && axis != flow.op.axis("axis", default_axis, flow.op.in(0).size());
    for (std::size_t i = 0; i < flow.op.input_count(); ++i) {
      if (flow.op.has_input(i)) follows = flow.requires_batch(i, axis) && follows;
    }
    return follows ? BatchAnswer(flow.on(axis)) : std::nullopt;
  };
}

BatchAnswer gathered_nd(BatchFlow& flow) {
  const int data = flow.axis(0), indices = flow.axis(1);
  const auto shared = static_cast<int>(flow.op->integer("batch_dims", 0));
  const int index_rank = static_cast<int>(flow.op.in(1).size());
  if (data >= 0 && data == indices && data < shared) return flow.on(data);
  const bool only_indices = data < 0 && indices >= 0 && indices < index_rank - 1;
  return only_indices ? BatchAnswer(flow.on(indices)) : std::nullopt;
}

BatchAnswer one_hot_batch(BatchFlow& flow) {
  if (flow.axis(0) < 0) return std::nullopt;
  const int added = flow.op.axis("axis", -1, flow.op.in(0).size() + 1);
  return flow.on(flow.axis(0) < added ? flow.axis(0) : flow.axis(0) + 1);
}

OpRule lookup(std::string_view type, OpFamily family, ShapeRule shape, BatchRule batch) {
  return {.type = type,
          .family = family,
          .min_inputs = 2,
          .shape = std::move(shape),
          .batch = std::move(batch),
          .linear = Linearity::First,
          .gradient = gradients({{"Grad", "grad", 0, {x(1)}}}),
          .lookups = inputs({0})};
}

// data, indices, updates
OpRule scatter(std::string_view type, BatchRule batch) {
  return {.type = type,
          .family = OpFamily::DataMovement,
          .min_inputs = 3,
          .batch = std::move(batch),
          .gradient = gradients(
              {{"GradData", "grad_data", 0, {x(1)}}, {"GradUpdates", "grad_updates", 2, {x(1)}}}),
          .differentiable = inputs({0, 2})};
}

OpRule selection(std::string_view type, std::size_t min_inputs, BatchRule batch,
                 GradientRule gradient_rule) {
  return {.type = type,
          .family = OpFamily::DataMovement,
          .min_inputs = min_inputs,
          .flops = per_input_element(1),
          .batch = std::move(batch),
          .gradient = std::move(gradient_rule)};
}

// indices, depth, values: an axis more, as long as the depth says.
OpRule one_hot() {
  OpRule rule = selection("OneHot", 3, one_hot_batch, nullptr);
  rule.shape = [](const OpReader& op) -> TensorTypes {
    const auto depth = op.constant(1);
    Shape shape = op.in(0);
    const int axis = op.axis("axis", -1, shape.size() + 1);
    const bool within = axis >= 0 && axis <= static_cast<int>(shape.size());
    if (!depth || depth->size() != 1 || depth->front() < 0 || !within) return {};
    shape.insert(shape.begin() + axis, depth->front());
    return {{op.input(2).type, shape}};
  };
  return rule;
}

// A column of places for each element that is not zero: at most for all.
OpRule non_zero() {
  OpRule rule = selection("NonZero", 1, nullptr, nullptr);
  rule.shape = [](const OpReader& op) -> TensorTypes {
    const auto elements = static_cast<std::int64_t>(product(op.in(0)));
    return {{DataType::I64, {static_cast<std::int64_t>(op.in(0).size()), elements}}};
  };
  return rule;
}

}  // namespace

OpRules indexing_rules() {
  return {
      selection("Compress", 2, nullptr, gradient({x(1)})),
      lookup("Gather", OpFamily::Embedding, shape_gathered, gathered),
      lookup("GatherElements", OpFamily::DataMovement, shape_like_second, side_by_side(0)),
      lookup("GatherND", OpFamily::DataMovement, nullptr, gathered_nd),
      selection("NonMaxSuppression", 2, nullptr, nullptr),
      non_zero(),
      one_hot(),
      selection("ReverseSequence", 2, side_by_side(-1), gradient({x(1)})),
      scatter("Scatter", side_by_side(0)),
      scatter("ScatterElements", side_by_side(0)),
      scatter("ScatterND", nullptr),
      selection("TopK", 1, batch_kept(mixes_along("axis", -1)), gradient({y(1)})),
      selection("Unique", 1, nullptr, nullptr),
  };
}

}  // namespace strato
