#include "core/program/place/placement.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/program/place/symmetry.h"

namespace strato {
namespace {

constexpr std::size_t kMostLayouts = 2048;

std::uint64_t hash_of(bool sharded, std::span<const Shard> shards) {
  std::uint64_t hash = sharded ? 1 : 0;
  const auto mix = [&](std::int32_t value) {
    hash = (hash ^ static_cast<std::uint32_t>(value)) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 29;
  };
  for (const Shard& shard : shards) mix(shard.device.value()), mix(shard.end);
  return hash;
}

}  // namespace

Placement::Placement(Tables& tables) : tables_(tables) {
  layout_of_.resize(tables.graph->op_count());
  homes_.resize(tables.graph->op_count());
  duplicated_.resize(tables.graph->op_count());
  mode_.resize(tables.grouping->size());
  of_group_.resize(tables.grouping->size());
  next_server_.resize(tables.grouping->size());
  placed_.resize(tables.grouping->size());
  forget();
}

LayoutId Placement::add(bool sharded) {
  Layout layout;
  layout.sharded = sharded;
  layout.shards = scratch_;
  layout.position.assign(tables_.cluster->device_count(), -1);
  for (std::size_t i = 0; i < scratch_.size(); ++i)
    layout.position[scratch_[i].device.index()] = static_cast<std::int32_t>(i);
  layouts_.push_back({std::move(layout), {}, -1});
  return static_cast<LayoutId>(layouts_.size() - 1);
}

void Placement::forget() {
  ++generation_;
  layouts_.clear();
  layout_by_hash_.clear();
  folded_layouts_.clear();
  split_layouts_.clear();
  tables_.forget();
  for (Decision& decision : placed_) decision.devices.clear();
  for (std::size_t d = 0; d < tables_.cluster->device_count(); ++d) {
    const Device& device = tables_.cluster->device(DeviceId(d));
    scratch_.assign(
        1, Shard{DeviceId(d), 0, tables_.batch, tables_.column(device.type, tables_.batch)});
    add(false);
  }
}

// `samples`: of each device; those with none drop out.
LayoutId Placement::intern(bool sharded, std::span<const DeviceShare> devices,
                           std::span<const std::int64_t> samples) {
  scratch_.clear();
  std::int32_t begin = 0;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    if (samples[i] == 0) continue;
    const auto count = sharded ? static_cast<std::int32_t>(samples[i]) : tables_.batch;
    const GpuTypeId gpu = tables_.cluster->device(devices[i].device).type;
    scratch_.push_back({devices[i].device, begin, begin + count, tables_.column(gpu, count)});
    if (sharded) begin += count;
  }
  CHECK(!scratch_.empty(), "a group without devices");
  if (scratch_.size() == 1) return static_cast<LayoutId>(scratch_[0].device.index());
  const std::uint64_t hash = hash_of(sharded, scratch_);
  const auto [first, last] = layout_by_hash_.equal_range(hash);
  for (auto at = first; at != last; ++at) {
    const Layout& known = layout(at->second);
    if (known.sharded == sharded &&
        std::equal(known.shards.begin(), known.shards.end(), scratch_.begin(), scratch_.end(),
                   [](const Shard& a, const Shard& b) {
                     return a.device == b.device && a.begin == b.begin && a.end == b.end;
                   }))
      return at->second;
  }
  return layout_by_hash_.emplace(hash, add(sharded))->second;
}

std::span<const DeviceId> Placement::nearest(LayoutId copies, DeviceId to) {
  std::vector<DeviceId>& known = layouts_[static_cast<std::size_t>(copies)].nearest[to];
  if (!known.empty()) return known;
  const Device& here = tables_.cluster->device(to);
  const auto distance = [&](DeviceId from) {
    const Device& device = tables_.cluster->device(from);
    return device.group == here.group ? 1 : device.machine == here.machine ? 2 : 3;
  };
  int least = 3;
  for (const Shard& shard : layout(copies).shards) least = std::min(least, distance(shard.device));
  for (const Shard& shard : layout(copies).shards)
    if (distance(shard.device) == least) known.push_back(shard.device);
  return known;
}

void Placement::place_group(GroupId group, const Decision& decision) {
  mode_[group] = decision.mode;
  if (decision.mode == Mode::ModelParallel) return place_parts(group, decision);
  const bool replicate = decision.mode != Mode::Duplicate;
  const std::vector<std::int64_t> samples =
      replicate ? apportion(tables_.batch, decision.devices)
                : std::vector<std::int64_t>(decision.devices.size(), tables_.batch);
  GroupLayouts& layouts = of_group_[group];
  layouts.whole = intern(false, decision.devices, samples);
  layouts.sharded = -1;
  if (replicate && layout(layouts.whole).shards.size() > 1)
    layouts.sharded = intern(true, decision.devices, samples);
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

bool Placement::may_shard(OpId op, LayoutId layout) const {
  if (layout < 0 || !tables_.ops[op].splittable || duplicated_[op]) return false;
  for (TensorId input : tables_.inputs(op)) {
    const TensorFacts& tensor = tables_.tensors[input];
    if (tensor.kind == BatchKind::Partial && tensor.source == Source::Produced &&
        layout_of_[tensor.op] != layout)
      return false;
  }
  return true;
}

void Placement::mark_duplicated(std::span<const OpId> ops) {
  std::fill(duplicated_.begin(), duplicated_.end(), false);
  for (const OpId op : ops) {
    CHECK(op.valid() && op.index() < duplicated_.size(), "a duplicated op of another graph");
    duplicated_[op] = true;
  }
}

void Placement::place_ops() {
  for (std::size_t i = 0; i < layout_of_.size(); ++i) {  // ascending: producers come first
    const OpId op(i);
    const GroupLayouts& layouts = of_group_[tables_.grouping->group_of(op)];
    if (layouts.whole >= 0)
      layout_of_[op] = may_shard(op, layouts.sharded) ? layouts.sharded : layouts.whole;
  }
}

void Placement::place_updates() {
  std::fill(next_server_.begin(), next_server_.end(), 0);
  for (OpId update : tables_.updates) {
    const GroupId group = tables_.grouping->group_of(update);
    homes_[update] = layout_of_[update];
    if (mode_[group] != Mode::ReplicatePs) continue;
    const std::vector<Shard>& replicas = layout(homes_[update]).shards;
    const Shard& server = replicas[next_server_[group]++ % replicas.size()];
    if (!duplicated_[update] && !layout(homes_[update]).is_split() &&
        !(has_variables() && (is_reduced(update) || variable(update))))
      layout_of_[update] = server.device.value();
  }
}

LayoutId Placement::folded(LayoutId id, const Fold& fold) {
  scratch_.clear();
  const Layout& all = layout(id);
  for (const Shard& shard : all.shards)
    if (fold.keeps(shard.device)) scratch_.push_back(shard);
  if (scratch_.size() == all.shards.size()) return id;
  const auto [first, last] = folded_layouts_.equal_range(id);
  for (auto at = first; at != last; ++at) {
    const auto& known = layout(at->second).shards;
    if (std::equal(known.begin(), known.end(), scratch_.begin(), scratch_.end(),
                   [](const Shard& a, const Shard& b) { return a.device == b.device; }))
      return at->second;
  }
  const LayoutId part = add(all.sharded);
  layouts_.back().unfolded = id;
  folded_layouts_.emplace(id, part);
  return part;
}

void Placement::fold(const Fold& fold) {
  unfolded_layout_of_ = layout_of_;
  unfolded_homes_ = homes_;
  folded_now_.assign(layouts_.size(), -1);
  const auto reduce = [&](LayoutId& id) {
    LayoutId& part = folded_now_[static_cast<std::size_t>(id)];
    if (part < 0) part = folded(id, fold);
    id = part;
  };
  for (LayoutId& id : layout_of_) reduce(id);
  for (const OpId update : tables_.updates) reduce(homes_[update]);
}

void Placement::unfold() {
  if (unfolded_layout_of_.empty()) return;
  layout_of_.swap(unfolded_layout_of_);
  homes_.swap(unfolded_homes_);
  unfolded_layout_of_.clear();
}

void Placement::place(const Strategy& complete) {
  unfold();
  take_splits_back();
  CHECK(complete.groups.size() == tables_.grouping->size(), "strategy of another grouping");
  if (layouts_.size() >= kMostLayouts || tables_.is_large()) forget();
  for (std::size_t g = 0; g < complete.groups.size(); ++g) {
    const Decision& decision = *complete.groups[GroupId(g)];
    if (decision == placed_[GroupId(g)]) continue;
    place_group(GroupId(g), decision);
    placed_[GroupId(g)] = decision;
  }
  mark_duplicated(complete.duplicated);
  variables_.clear();
  reduced_.clear();
  has_stale_ = false;
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
      next = at.shards[i].end;
    }
    CHECK(next == tables_.batch, "shards do not cover the batch");
  }
}

}  // namespace strato
