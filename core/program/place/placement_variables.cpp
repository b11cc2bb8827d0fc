// Which variables are synchronised in another way than their groups say (AutoDist 2.2).
#include <algorithm>

#include "core/base/error.h"
#include "core/program/place/placement.h"
#include "core/strategy/value/variable_check.h"

namespace strato {
namespace {

// Is the whole of it all-reduced, on its own or in the strategy's buckets?
bool is_all_reduced(const VariableSync& variable) {
  return variable.parts.size() == 1 && variable.parts[0] == SyncPart();
}

}  // namespace

const VariableSync* Placement::variable(OpId update) const {
  const auto at = std::ranges::lower_bound(variables_, update, {}, &VariableSync::update);
  return at != variables_.end() && at->update == update ? &*at : nullptr;
}

bool Placement::may_synchronise(OpId update) const {
  const Op& op = tables_.graph->op(update);
  const Mode mode = mode_[tables_.grouping->group_of(update)];
  const Layout& replicas = layout(layout_of_[update]);
  const bool replicated = mode == Mode::ReplicateAllReduce || mode == Mode::ReplicatePs;
  if (!replicated || duplicated_[update] || replicas.is_split() || replicas.shards.size() < 2)
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
  return made.sharded &&
         std::ranges::equal(made.shards, replicas.shards, {}, &Shard::device, &Shard::device);
}

// Those of variables that send their factors; false: there are none.
bool Placement::duplicate_products(std::span<const VariableSync> variables) {
  bool any = false;
  for (const VariableSync& variable : variables) {
    const bool factors = variable.parts.front().encoding == Encoding::SufficientFactors;
    if (!factors || !may_synchronise(variable.update)) continue;
    for (const OpId product : gradient_products(*tables_.graph, variable.update))
      duplicated_[product] = true;
    duplicated_[variable.update] = any = true;
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
    if (!may_synchronise(variable.update)) continue;
    has_stale_ = has_stale_ || variable.staleness > 0;
    if (is_all_reduced(variable))
      reduced_.push_back(variable.update);
    else
      variables_.push_back(variable);
  }
}

}  // namespace strato
