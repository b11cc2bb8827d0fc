// What is placed otherwise than its group says: ops that the strategy splits along another axis
// than the batch (FastT 5.2), and variables that are synchronised in a way of their own
// (AutoDist 2.2).
#include <algorithm>

#include "core/base/error.h"
#include "core/program/place/placement.h"
#include "core/program/value/op_parts.h"
#include "core/strategy/value/variable_check.h"

namespace strato {
namespace {

std::int64_t extent_of(const Graph& graph, OpId id, int axis) {
  const Op& op = graph.op(id);
  const TensorId made = op.outputs.empty() ? op.inputs.front() : op.outputs.front();
  return graph.tensor(made).shape[static_cast<std::size_t>(axis)];
}

// By the op's distinct inputs.
std::vector<int> axes_of_inputs(const Op& op, const SplitAxis& axes,
                                std::span<const TensorId> inputs) {
  std::vector<int> result;
  for (const TensorId input : inputs) result.push_back(axis_read(op, axes.inputs, input));
  return result;
}

}  // namespace

const PlacedSplit* Placement::split(OpId op) const {
  const auto at = std::ranges::lower_bound(splits_, op, {}, &PlacedSplit::op);
  return at != splits_.end() && at->op == op ? &*at : nullptr;
}

void Placement::place_split(const OpSplit& split) {
  const std::vector<SplitAxis>& axes = tables_.split_axes(split.op);
  const auto known = std::ranges::find(axes, split.axis, &SplitAxis::axis);
  CHECK(known != axes.end(), "an op is split along an axis that does not divide it");
  CHECK(!tables_.ops[split.op].alias, "an op without a task is split");
  const Op& op = tables_.graph->op(split.op);
  splits_.push_back({split.op, split.axis, axes_of_inputs(op, *known, tables_.inputs(split.op)),
                     layout_of_[split.op]});
  layout_of_[split.op] = layouts_.of_parts(split, extent_of(*tables_.graph, split.op, split.axis));
}

// A split op's result is whole, also where shards would make sums over their samples: what reads
// such sums cannot be sharded then.
void Placement::place_splits(std::span<const OpSplit> splits) {
  auto next = splits.begin();
  for (const OpId op : layout_of_.ids()) {  // ascending: producers come first
    const GroupLayouts& layouts = of_group_[tables_.grouping->group_of(op)];
    if (next != splits.end() && next->op == op) {
      place_split(*next++);
    } else if (layouts.whole >= 0 && layout(layout_of_[op]).sharded) {
      layout_of_[op] = layout_for(op, layouts);
    }
  }
  CHECK(next == splits.end(), "split ops are out of order or of another graph");
}

// Groups that are decided as before keep their layouts.
void Placement::take_splits_back() {
  for (const PlacedSplit& split : splits_) layout_of_[split.op] = split.displaced;
  splits_.clear();
}

bool Placement::may_synchronise(OpId update) const {
  const Op& op = tables_.graph->op(update);
  const Layout& replicas = layout(layout_of_[update]);
  if (!splits_batch(decision(update).mode) || duplicated_[update] || replicas.is_split() ||
      replicas.is_mesh || replicas.shards.size() < 2)
    return false;
  if (op.phase != Phase::Update || op.inputs.size() < 2 || !op.outputs.empty() ||
      !tables_.updates_here(update, op.inputs[0]) || !op.inputs[1].valid())
    return false;
  for (std::size_t i = 2; i < op.inputs.size(); ++i)  // its state
    if (op.inputs[i].valid() && tables_.tensors[op.inputs[i]].source != Source::Resident)
      return false;
  const TensorId gradient = op.inputs[1];
  const TensorFacts& facts = tables_.tensors[gradient];
  if (facts.source != Source::Produced || facts.kind != BatchKind::Partial ||
      tables_.graph->consumers(gradient).size() != 1 || tables_.is_late(facts.op))
    return false;
  const Layout& made = layout(layout_of_[facts.op]);
  return made.sharded && !made.is_mesh && have_same_devices(made, replicas);
}

// Those of variables that send their factors; false: there are none.
bool Placement::duplicate_products(std::span<const VariableSync> variables) {
  bool any = false;
  for (const VariableSync& variable : variables) {
    const bool factors = variable.parts.front().encoding == Encoding::SufficientFactors;
    if (!factors || !may_synchronise(variable.update)) continue;
    for (const OpId product : gradient_products(*tables_.graph, variable.update))
      duplicated_[product] = true;
    duplicated_[variable.update] = true;
    any = true;
  }
  return any;
}

void Placement::place_variables(std::span<const VariableSync> variables) {
  OpId last;
  for (const VariableSync& variable : variables) {
    CHECK(variable.update.valid() && variable.update.index() < layout_of_.size() &&
              (!last.valid() || last < variable.update),
          "variables are out of order or of another graph");
    last = variable.update;
    if (may_synchronise(variable.update)) variables_.add(variable);
  }
}

}  // namespace strato
