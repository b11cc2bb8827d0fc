#include "core/graph/build/batch_demands.h"

#include <algorithm>
#include <span>
#include <utility>

#include "core/graph/ops/catalogue.h"

namespace strato {
namespace {

bool made_from_shape(const Op& op) {
  return op.type == "ConstantOfShape" || op.type == "RandomNormalLike" ||
         op.type == "RandomUniformLike";
}

// The runs of samples, one after the other in memory, that a tensor of this layout holds.
std::int64_t runs_of(const Shape& shape, const BatchLayout& layout) {
  return static_cast<std::int64_t>(product(shape, 0, static_cast<std::size_t>(layout.axis))) *
         layout.blocks;
}

}  // namespace

std::optional<BatchDemands::Layouts> BatchDemands::met(const BatchFlow::Demand& demand) {
  Layouts layouts;
  Wanted open = {demand};
  while (!open.empty()) {
    const auto [id, layout] = open.back();
    open.pop_back();
    if (tensors_[id].batch == layout) continue;
    const auto [known, fresh] = layouts.emplace(id, layout);
    if (!fresh && known->second == layout) continue;
    std::optional<Wanted> wanted;
    if (fresh && can_start(id, layout))
      wanted = can_be_cut(tensors_[id]) ? Wanted() : wanted_by(ops_[tensors_[id].producer], layout);
    if (!wanted) {
      refused_[id] = layout;
      refused_[demand.tensor] = demand.layout;
      return std::nullopt;
    }
    open.insert(open.end(), wanted->begin(), wanted->end());
  }
  return layouts;
}

bool BatchDemands::can_start(TensorId id, const BatchLayout& layout) const {
  const Tensor& tensor = tensors_[id];
  const auto refused = refused_.find(id);
  if (refused != refused_.end() && refused->second == layout) return false;
  if (tensor.batch.kind != BatchKind::Whole || layout.axis < 0 ||
      layout.axis >= static_cast<int>(tensor.shape.size()) ||
      extent(tensor.shape, layout.axis) % (layout.blocks * batch_) != 0)
    return false;
  if (can_be_cut(tensor)) return true;
  if (!tensor.producer.valid() || tensor.role != TensorRole::Activation) return false;
  const Op& op = ops_[tensor.producer];
  return op.outputs.front() == id && std::ranges::all_of(op.inputs, [&](TensorId input) {
           return !input.valid() || tensors_[input].batch.kind == BatchKind::Whole ||
                  can_be_cut(tensors_[input]);
         });
}

// Returns what inputs must carry so that the op's first output is as told; nothing: no such inputs.
std::optional<BatchDemands::Wanted> BatchDemands::wanted_by(const Op& op,
                                                            const BatchLayout& result) {
  if (makes_slices(op, result.axis)) return Wanted();
  const OpRule& rule = rule_of(op.type);
  if (!rule.batch) return std::nullopt;
  const auto carries = [&](TensorId id) {
    return id.valid() && tensors_[id].batch.kind == BatchKind::Batched;
  };
  if (std::ranges::any_of(op.inputs, carries)) return tried(op, result, {});
  const std::int64_t runs = runs_of(tensors_[op.outputs[0]].shape, result);
  for (const TensorId input : op.inputs) {
    if (!input.valid()) continue;
    const Shape& shape = tensors_[input].shape;
    std::int64_t before = 1;
    for (std::size_t axis = 0; axis < shape.size() && before > 0; before *= shape[axis++]) {
      const bool divides = rule.view && runs % before == 0;
      const std::int64_t blocks = divides ? runs / before : result.blocks;
      if (shape[axis] < 2 && shape[axis] != batch_) continue;
      if (shape[axis] % (blocks * batch_) != 0) continue;
      const BatchLayout layout = {BatchKind::Batched, static_cast<int>(axis), blocks};
      if (auto wanted = tried(op, result, {{input, layout}})) return wanted;
    }
  }
  return std::nullopt;
}

// Lets the op's own rule tell: what it asks of other inputs is granted, until it has an answer.
std::optional<BatchDemands::Wanted> BatchDemands::tried(const Op& op, const BatchLayout& result,
                                                        Wanted asked) {
  Wanted wanted;
  bool agrees = false, grows = true;
  while (grows) {
    for (const BatchFlow::Demand& demand : asked) tensors_[demand.tensor].batch = demand.layout;
    wanted.insert(wanted.end(), asked.begin(), asked.end());
    BatchFlow flow(OpReader(op, ops_, tensors_), batch_);
    const BatchAnswer answer = rule_of(op.type).batch(flow);
    agrees = answer && *answer == result;
    asked = std::move(flow.demands);
    grows = !answer && !asked.empty() && wanted.size() <= op.inputs.size();
  }
  for (const BatchFlow::Demand& demand : wanted) tensors_[demand.tensor].batch = BatchLayout();
  return agrees ? std::optional(std::move(wanted)) : std::nullopt;
}

// Tells whether an op with Whole inputs can compute slices of its output from these as they are:
// they are stretched along the axis, or it makes its output from nothing but a shape.
bool BatchDemands::makes_slices(const Op& op, int axis) const {
  if (made_from_shape(op)) return true;
  if (op.type != "Expand" && rule_of(op.type).family != OpFamily::Elementwise) return false;
  const std::size_t operands = op.type == "Expand" ? 1 : op.inputs.size();
  const auto rank = static_cast<int>(tensors_[op.outputs[0]].shape.size());
  return std::ranges::all_of(std::span(op.inputs).first(operands), [&](TensorId id) {
    if (!id.valid()) return true;
    const Shape& shape = tensors_[id].shape;
    const int at = axis - (rank - static_cast<int>(shape.size()));
    return at < 0 || extent(shape, at) == 1;
  });
}

}  // namespace strato
