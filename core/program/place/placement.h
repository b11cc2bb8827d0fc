// The first pass of lowering ("place"): which devices run each op, on which samples.
//
// - Replicate modes: apportion() gives contiguous sample ranges to the devices in ascending order;
//   a device with no sample drops out of the group. Splittable ops run one shard a device, others
//   whole on every device, except the updates of a ReplicatePs group: each runs on one device,
//   round robin over the group's devices in the order of the parameters. Ops that the strategy
//   duplicates (TAG 4.2.3) are whole on every device of their group, such updates included; the
//   other updates stay where they are without.
// - Duplicate: every op whole on every device. ModelParallel: every op whole on one device.
// - An op is sharded only if each of its partial inputs is made by shards with exactly the same
//   layout.
// - Whatever has one device is simply whole there.
// - A group whose devices are rows of several columns (MeshRoles::tensor) has the layouts of its
//   rows; what the columns compute of each op is chosen by MeshLetters. Where rows have experts
//   among them (MeshRoles::expert), ops that experts compute have a layout of their own.
// - Ops that the strategy splits along another axis than the batch (FastT 5.2) have a layout of
//   their own: a part on each of their devices, of the whole batch. What their groups say does not
//   hold for them; a split update's parameter and state are kept in parts, too.
// - Where rows share states (StateSharding), each of them updates, and keeps, its part of what its
//   columns have.
//
// - With micro-batches the samples are those of one of them. An op that runs once a step is then
//   whole wherever it runs.
// - A variable of a replicated group that has an entry of its own is updated where its replicas
//   are, or as the entry says (variable_exchange.h). Where it sends sufficient factors the products
//   that its gradient is made of are duplicated, and so is its update: then all that travels is
//   what they read.
//
// Layouts, and what follows from them alone, are remembered from strategy to strategy; a group that
// is decided as it was before keeps its layouts.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "core/program/place/layouts.h"
#include "core/program/value/tables.h"
#include "core/strategy/value/strategy.h"

namespace strato {

// The variables that are synchronised otherwise than their groups say (AutoDist 2.2): updates of
// replicated groups whose variable has an entry of its own and a gradient that their replicas have
// summed up in parts, which nobody else reads. Elsewhere an entry changes nothing.
class SyncedVariables {
 public:
  void clear() {
    variables_.clear();
    has_stale_ = false;
  }
  void add(const VariableSync& variable) {  // ascending
    has_stale_ |= variable.staleness > 0;
    variables_.push_back(variable);
  }

  bool empty() const { return variables_.empty(); }
  std::span<const VariableSync> all() const { return variables_; }
  // Null: none, or one that is_reduced().
  const VariableSync* find(OpId update) const {
    const VariableSync* variable = entry(update);
    return variable && !is_all_reduced(*variable) ? variable : nullptr;
  }
  // Has it an entry that says no more than that the whole gradient is all-reduced, on its own or in
  // the strategy's buckets?
  bool is_reduced(OpId update) const {
    const VariableSync* variable = entry(update);
    return variable && is_all_reduced(*variable);
  }
  // Is the parameter read as it was when the step began, and overwritten at any time?
  bool is_stale(OpId update) const {
    if (!has_stale_) return false;
    const VariableSync* variable = find(update);
    return variable && variable->staleness > 0;
  }

 private:
  static bool is_all_reduced(const VariableSync& variable) {
    return variable.parts.size() == 1 && variable.parts[0] == SyncPart();
  }
  const VariableSync* entry(OpId update) const {
    const auto at = std::ranges::lower_bound(variables_, update, {}, &VariableSync::update);
    return at != variables_.end() && at->update == update ? &*at : nullptr;
  }

  std::vector<VariableSync> variables_;
  bool has_stale_ = false;
};

// An op that is split along another axis than the batch: its layout is_split().
struct PlacedSplit {
  OpId op;
  int axis = 0;             // of its first output; of an update: of its parameter
  std::vector<int> inputs;  // by Tables::inputs(): the axis that a part has its slice of; -1: all
  LayoutId displaced = -1;  // what the op's group says
};

// Of a group's ops.
struct GroupLayouts {
  LayoutId whole = 0, sharded = -1;  // sharded: -1 when the batch is not split
  // Of ops that experts compute; -1: as of others.
  LayoutId whole_experts = -1, sharded_experts = -1;
};

class Placement {
 public:
  explicit Placement(Tables& tables);
  void place(const Strategy& complete);

  LayoutId layout_id(OpId op) const { return layout_of_[op]; }
  const Layout& layout(LayoutId id) const { return layouts_[id]; }
  const Layout& layout(OpId op) const { return layout(layout_of_[op]); }
  // Of the op's group.
  const Decision& decision(OpId op) const { return placed_[tables_.grouping->group_of(op)]; }
  // Where the parameters that `update` updates are kept.
  LayoutId homes_id(OpId update) const { return homes_[update]; }
  const Layout& homes(OpId update) const { return layout(homes_[update]); }

  bool has_splits() const { return !splits_.empty(); }

  const SyncedVariables& variables() const { return variables_; }
  const PlacedSplit* split(OpId op) const;  // null: it is not split

  Layouts& layouts() { return layouts_; }
  const Layouts& layouts() const { return layouts_; }

  // From here to the next place() or unfold() only the devices that the fold keeps are in layouts;
  // it refers to the fold.
  void fold(const Fold& fold);
  void unfold();
  const Fold* fold() const { return fold_; }  // null: nothing is left out
  void check()
      const;  // every op has a layout, and shards cover the batch exactly; throws InvariantError

 private:
  void place_group(GroupId group, const Decision& decision);
  void place_parts(GroupId group, const Decision& decision);
  void place_ops();
  LayoutId layout_for(OpId op, const GroupLayouts& layouts);
  void place_splits(std::span<const OpSplit> splits);
  void place_split(const OpSplit& split);
  void take_splits_back();
  void place_updates();
  void place_variables(std::span<const VariableSync> variables);
  bool duplicate_products(std::span<const VariableSync> variables);
  bool may_synchronise(OpId update) const;

  Tables& tables_;
  Layouts layouts_;
  IdVector<GroupId, Decision> placed_;  // of the last strategy; no devices: none
  IdVector<OpId, LayoutId> layout_of_, homes_;
  IdVector<OpId, LayoutId> unfolded_layout_of_, unfolded_homes_;  // empty: not folded
  const Fold* fold_ = nullptr;
  IdVector<OpId, char> duplicated_;
  SyncedVariables variables_;
  std::vector<PlacedSplit> splits_;   // ascending by op
  std::vector<LayoutId> folded_now_;  // by layout, of this fold; or -1
  IdVector<GroupId, GroupLayouts> of_group_;
  IdVector<GroupId, std::size_t> next_server_;
};

}  // namespace strato
