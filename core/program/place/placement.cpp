#include "core/program/place/placement.h"

#include <algorithm>

#include "core/base/error.h"

namespace strato {
namespace {

GroupLayouts layouts_on_mesh(Layouts& layouts, const Decision& decision) {
  const auto if_sharded = [&](LayoutId id) { return id >= 0 && layouts[id].sharded ? id : -1; };
  GroupLayouts result{layouts.of_mesh(decision, false),
                      if_sharded(layouts.of_mesh(decision, true))};
  const std::size_t experts = expert_rows_of(decision);
  if (experts == 1 || result.sharded < 0) return result;
  result.whole_experts = layouts.of_mesh(decision, false, experts);
  result.sharded_experts = if_sharded(layouts.of_mesh(decision, true, experts));
  return result;
}

}  // namespace

Placement::Placement(Tables& tables) : tables_(tables), layouts_(tables) {
  layout_of_.resize(tables.graph->op_count());
  homes_.resize(tables.graph->op_count());
  duplicated_.resize(tables.graph->op_count());
  of_group_.resize(tables.grouping->size());
  next_server_.resize(tables.grouping->size());
  placed_.resize(tables.grouping->size());
}

void Placement::place_group(GroupId group, const Decision& decision) {
  if (decision.mode == Mode::ModelParallel) return place_parts(group, decision);
  if (is_mesh(decision)) {
    of_group_[group] = layouts_on_mesh(layouts_, decision);
    return;
  }
  const bool replicate = decision.mode != Mode::Duplicate;
  const std::vector<std::int64_t> samples =
      replicate ? apportion(tables_.micro_batch, decision.devices)
                : std::vector<std::int64_t>(decision.devices.size(), tables_.micro_batch);
  GroupLayouts& layouts = of_group_[group];
  layouts = {layouts_.of_samples(false, decision.devices, samples)};
  if (replicate && layout(layouts.whole).shards.size() > 1)
    layouts.sharded = layouts_.of_samples(true, decision.devices, samples);
}

void Placement::place_parts(GroupId group, const Decision& decision) {
  const std::vector<OpId>& ops = tables_.grouping->group(group).ops;
  of_group_[group] = {-1, -1};
  if (decision.devices.size() == 1) {
    of_group_[group].whole = decision.devices[0].device.value();
    return;
  }
  const auto parts = tables_.parts(group, static_cast<int>(decision.devices.size()));
  for (std::size_t i = 0; i < ops.size(); ++i)
    layout_of_[ops[i]] = decision.devices[static_cast<std::size_t>(parts[i])].device.value();
}

void Placement::place_ops() {
  for (const OpId op : layout_of_.ids()) {  // ascending: producers come first
    // What each micro-batch casts of a gradient is cast where that is made.
    if (tables_.micro_batches > 1 && tables_.is_repeated(op) && tables_.casts_sum(op)) {
      layout_of_[op] = layout_of_[tables_.graph->tensor(tables_.inputs(op).front()).producer];
      continue;
    }
    const GroupLayouts& layouts = of_group_[tables_.grouping->group_of(op)];
    if (layouts.whole >= 0) layout_of_[op] = layout_for(op, layouts);
  }
}

LayoutId Placement::layout_for(OpId op, const GroupLayouts& layouts) {
  const auto may_shard = [&](LayoutId layout) {
    if (layout < 0 || !tables_.ops[op].splittable || duplicated_[op]) return false;
    if (tables_.micro_batches > 1 && !tables_.is_repeated(op)) return false;
    return std::ranges::all_of(tables_.inputs(op), [&](TensorId input) {
      const TensorFacts& tensor = tables_.tensors[input];
      return tensor.kind != BatchKind::Partial || tensor.source != Source::Produced ||
             layout_of_[tensor.op] == layout;
    });
  };
  if (layouts.whole_experts >= 0 && !duplicated_[op]) {
    const LetterSplit* split = tables_.expert_split(op);
    const auto rows = static_cast<std::int64_t>(layout(layouts.whole_experts).experts);
    if (split != nullptr && split->extent % rows == 0)
      return may_shard(layouts.sharded_experts) ? layouts.sharded_experts : layouts.whole_experts;
  }
  return may_shard(layouts.sharded) ? layouts.sharded : layouts.whole;
}

void Placement::place_updates() {
  std::fill(next_server_.begin(), next_server_.end(), 0);
  for (OpId update : tables_.updates) {
    const GroupId group = tables_.grouping->group_of(update);
    homes_[update] = layout_of_[update];
    if (placed_[group].mode != Mode::ReplicatePs) continue;
    const std::vector<Shard>& replicas = layout(homes_[update]).shards;
    const Shard& server = replicas[next_server_[group]++ % replicas.size()];
    if (!duplicated_[update] && !layout(homes_[update]).is_split() &&
        !variables_.is_reduced(update) && !variables_.find(update))
      layout_of_[update] = server.device.value();
  }
}

void Placement::fold(const Fold& fold) {
  fold_ = &fold;
  unfolded_layout_of_ = layout_of_;
  unfolded_homes_ = homes_;
  folded_now_.assign(layouts_.size(), -1);
  const auto reduce = [&](LayoutId& id) {
    LayoutId& part = folded_now_[static_cast<std::size_t>(id)];
    if (part < 0) part = layouts_.folded(id, fold);
    id = part;
  };
  for (LayoutId& id : layout_of_) reduce(id);
  for (const OpId update : tables_.updates) reduce(homes_[update]);
}

void Placement::unfold() {
  fold_ = nullptr;
  if (unfolded_layout_of_.empty()) return;
  layout_of_.swap(unfolded_layout_of_);
  homes_.swap(unfolded_homes_);
  unfolded_layout_of_.clear();
}

void Placement::place(const Strategy& complete) {
  unfold();
  take_splits_back();
  CHECK(complete.groups.size() == tables_.grouping->size(), "strategy of another grouping");
  if (layouts_.forget_if_many())
    for (Decision& decision : placed_) decision.devices.clear();
  for (std::size_t g = 0; g < complete.groups.size(); ++g) {
    const Decision& decision = *complete.groups[GroupId(g)];
    if (decision == placed_[GroupId(g)]) continue;
    place_group(GroupId(g), decision);
    placed_[GroupId(g)] = decision;
  }
  std::fill(duplicated_.begin(), duplicated_.end(), false);
  for (const OpId op : complete.duplicated) {
    CHECK(op.valid() && op.index() < duplicated_.size(), "a duplicated op of another graph");
    duplicated_[op] = true;
  }
  variables_.clear();
  place_ops();
  if (!complete.splits.empty()) place_splits(complete.splits);
  if (duplicate_products(complete.variables)) {
    take_splits_back();
    place_ops();
    if (!complete.splits.empty()) place_splits(complete.splits);
  }
  if (!complete.variables.empty()) place_variables(complete.variables);
  place_updates();
}

void Placement::check() const {
  for (LayoutId id : layout_of_) {
    CHECK(id >= 0 && static_cast<std::size_t>(id) < layouts_.size(), "op without a layout");
    const Layout& at = layout(id);
    std::int32_t next = 0;
    for (std::size_t i = 0; i < at.shards.size(); ++i) {
      CHECK(i == 0 || at.shards[i - 1].device < at.shards[i].device, "devices not ascending");
      CHECK(at.shards[i].begin == (at.sharded ? next : 0), "shards leave a gap");
      CHECK(at.shards[i].begin < at.shards[i].end, "empty shard");
      if (at.column(i) + 1 == at.columns && (at.row(i) + 1) % (at.experts * at.context) == 0)
        next = at.shards[i].end;
    }
    CHECK(next == tables_.micro_batch, "shards do not cover the batch");
  }
}

}  // namespace strato
