#include "core/program/place/layouts.h"

#include <algorithm>
#include <limits>

#include "core/base/at.h"
#include "core/base/error.h"
#include "core/program/place/symmetry.h"

namespace strato {
namespace {

std::uint64_t hash_of(bool sharded, std::span<const Shard> shards,
                      std::span<const std::int32_t> cuts, LayoutId unfolded, std::size_t columns) {
  std::uint64_t hash = sharded ? 1 : 0;
  const auto mix = [&](std::int32_t value) {
    hash = (hash ^ static_cast<std::uint32_t>(value)) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 29;
  };
  mix(unfolded);
  mix(static_cast<std::int32_t>(columns));
  for (const Shard& shard : shards) {
    mix(shard.device.value());
    mix(shard.end);
  }
  for (const std::int32_t cut : cuts) mix(cut);
  return hash;
}

bool have_same_ranges(const Shard& a, const Shard& b) {
  return a.device == b.device && a.begin == b.begin && a.end == b.end;
}

}  // namespace

std::int32_t Layout::position(DeviceId device) const {
  const Shard& first = shards.front();
  if (device < first.device || device > shards.back().device) return -1;
  const std::size_t along = device.index() - first.device.index();  // where no device is left out
  if (along < shards.size() && shards[along].device == device)
    return static_cast<std::int32_t>(along);
  const auto at = std::ranges::lower_bound(shards, device, {}, &Shard::device);
  return at->device == device ? static_cast<std::int32_t>(at - shards.begin()) : -1;
}

bool have_same_devices(const Layout& a, const Layout& b) {
  return &a == &b || std::ranges::equal(a.shards, b.shards, {}, &Shard::device, &Shard::device);
}

bool have_same_grid(const Layout& a, const Layout& b) {
  const auto samples = [](const Shard& shard) { return std::pair(shard.begin, shard.end); };
  return a.is_mesh() && a.columns == b.columns &&
         std::ranges::equal(a.shards, b.shards, {}, samples, samples);
}

int distance(const Cluster& cluster, DeviceId a, DeviceId b) {
  const Device &from = cluster.device(a), &to = cluster.device(b);
  return a == b ? 0 : from.group == to.group ? 1 : from.machine == to.machine ? 2 : 3;
}

Layouts::Layouts(Tables& tables) : tables_(tables) {
  enter(-1);
  forget();
}

bool Layouts::forget_if_many() {
  constexpr std::size_t kMostLayouts = 2048;
  const bool many =
      known_.size() >= kMostLayouts + tables_.cluster->device_count() || tables_.is_large();
  if (many) forget();
  return many;
}

LayoutId Layouts::add(Known known) {
  known_.push_back(std::move(known));
  return static_cast<LayoutId>(known_.size() - 1);
}

LayoutId Layouts::find(bool sharded, std::vector<std::int32_t> cuts, LayoutId unfolded,
                       std::size_t columns, std::size_t column_parts) {
  const std::uint64_t hash = hash_of(sharded, scratch_, cuts, unfolded, columns);
  const auto [first, last] = by_hash_.equal_range(hash);
  for (auto at = first; at != last; ++at) {
    const Known& known = known_[static_cast<std::size_t>(at->second)];
    if (known.layout.sharded == sharded && known.unfolded == unfolded &&
        known.layout.cuts == cuts && known.layout.columns == columns &&
        known.layout.column_parts == column_parts &&
        std::ranges::equal(known.layout.shards, scratch_, have_same_ranges))
      return at->second;
  }
  const LayoutId made =
      add({{sharded, scratch_, std::move(cuts), columns, column_parts}, {}, unfolded, {}, {}});
  return by_hash_.emplace(hash, made)->second;
}

void Layouts::forget() {
  ++generation_;
  known_.clear();
  by_hash_.clear();
  tables_.forget();
  for (std::size_t d = 0; d < tables_.cluster->device_count(); ++d) {
    const Device& device = tables_.cluster->device(DeviceId(d));
    const Tables::Column costs = tables_.column(device.type, tables_.micro_batch);
    add({{false, {{DeviceId(d), 0, tables_.micro_batch, costs}}, {}, 1, 1}, {}, -1, {}, {}});
  }
}

LayoutId Layouts::of_samples(bool sharded, std::span<const DeviceShare> devices,
                             std::span<const std::int64_t> samples) {
  scratch_.clear();
  std::int32_t begin = 0;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    if (samples[i] == 0) continue;
    const auto count = sharded ? static_cast<std::int32_t>(samples[i]) : tables_.micro_batch;
    const GpuTypeId gpu = tables_.cluster->device(devices[i].device).type;
    scratch_.push_back({devices[i].device, begin, begin + count, tables_.column(gpu, count)});
    if (sharded) begin += count;
  }
  CHECK(!scratch_.empty(), "a group without devices");
  return scratch_.size() == 1 ? on(scratch_[0].device) : find(sharded);
}

LayoutId Layouts::of_mesh(const Decision& decision, bool sharded) {
  const std::size_t columns = columns_of(decision);
  std::vector<DeviceShare> rows;
  for (std::size_t i = 0; i < decision.devices.size(); i += columns)
    rows.push_back(decision.devices[i]);
  const std::vector<std::int64_t> samples = apportion(tables_.micro_batch, rows);
  sharded = sharded && std::ranges::count(samples, tables_.micro_batch) == 0;
  scratch_.clear();
  std::int32_t begin = 0;
  for (std::size_t i = 0; i < decision.devices.size(); ++i) {
    const std::int64_t of_row = samples[i / columns];
    if (of_row == 0) continue;
    const DeviceId device = decision.devices[i].device;
    const auto count = sharded ? static_cast<std::int32_t>(of_row) : tables_.micro_batch;
    const GpuTypeId gpu = tables_.cluster->device(device).type;
    scratch_.push_back({device, begin, begin + count, tables_.column(gpu, count)});
    if (sharded && (i + 1) % columns == 0) begin += count;
  }
  const LayoutId mesh = find(sharded, {}, -1, columns, columns);
  if (known(mesh).rows.empty()) make_groups(mesh);
  return mesh;
}

LayoutId Layouts::of_members(std::span<const Shard> members) {
  scratch_.clear();
  for (const Shard& member : members) {
    const GpuTypeId gpu = tables_.cluster->device(member.device).type;
    const Tables::Column costs = tables_.column(gpu, tables_.micro_batch);
    scratch_.push_back({member.device, 0, tables_.micro_batch, costs});
  }
  return find(false);
}

void Layouts::make_groups(LayoutId mesh) {
  const Layout layout = (*this)[mesh];  // a copy: more layouts are added
  std::vector<LayoutId> rows, columns;
  for (std::size_t row = 0; row < layout.row_count(); ++row)
    rows.push_back(of_members(layout.members_of_row(row)));
  for (std::size_t column = 0; layout.row_count() > 1 && column < layout.columns; ++column) {
    std::vector<Shard> members;
    for (std::size_t i = column; i < layout.shards.size(); i += layout.columns)
      members.push_back(layout.shards[i]);
    columns.push_back(of_members(members));
  }
  Known& known = known_[static_cast<std::size_t>(mesh)];
  known.rows = std::move(rows);
  known.columns = std::move(columns);
}

LayoutId Layouts::of_parts(const OpSplit& split, std::int64_t extent) {
  CHECK(extent < std::numeric_limits<std::int32_t>::max(), "an axis that is too long");
  const std::vector<std::int64_t> sizes = apportion(extent, split.parts);
  std::vector<std::int32_t> cuts = {0};
  scratch_.clear();
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 0) continue;
    const DeviceId device = split.parts[i].device;
    const GpuTypeId gpu = tables_.cluster->device(device).type;
    scratch_.push_back({device, 0, tables_.micro_batch, tables_.column(gpu, tables_.micro_batch)});
    cuts.push_back(cuts.back() + static_cast<std::int32_t>(sizes[i]));
  }
  CHECK(!scratch_.empty(), "a split op without parts");
  return scratch_.size() == 1 ? on(scratch_[0].device) : find(false, std::move(cuts));
}

LayoutId Layouts::folded(LayoutId id, const Fold& fold) {
  scratch_.clear();
  const Layout& all = (*this)[id];
  for (const Shard& shard : all.shards)
    if (fold.keeps(shard.device)) scratch_.push_back(shard);
  if (scratch_.size() == all.shards.size()) return id;
  if (!all.is_mesh()) return find(all.sharded, {}, id);
  const std::size_t first_row = all.row(at(all.position(scratch_.front().device)));
  const auto columns = static_cast<std::size_t>(std::ranges::count_if(
      all.members_of_row(first_row), [&](const Shard& shard) { return fold.keeps(shard.device); }));
  const LayoutId mesh = find(all.sharded, {}, id, columns, all.column_parts);
  if (known(mesh).rows.empty()) fold_groups(mesh, fold);
  return mesh;
}

// The groups of the rows and columns that are left.
void Layouts::fold_groups(LayoutId mesh, const Fold& fold) {
  const LayoutId id = unfolded(mesh);
  std::vector<LayoutId> rows, columns;
  const Layout all = (*this)[id];  // a copy: more layouts are added
  for (std::size_t row = 0; row < all.row_count(); ++row)
    if (fold.keeps(all.members_of_row(row).front().device))
      rows.push_back(folded(row_group(id, row), fold));
  const std::size_t kept = (*this)[mesh].columns;
  for (std::size_t column = 0; all.row_count() > 1 && column < kept; ++column)
    columns.push_back(folded(column_group(id, column), fold));
  Known& known = known_[static_cast<std::size_t>(mesh)];
  known.rows = std::move(rows);
  known.columns = std::move(columns);
}

std::span<const DeviceId> Layouts::nearest(LayoutId copies, DeviceId to) {
  std::vector<DeviceId>& known = known_[static_cast<std::size_t>(copies)].nearest[to];
  if (!known.empty()) return known;
  const auto far = [&](const Shard& shard) { return distance(*tables_.cluster, shard.device, to); };
  int least = 3;
  for (const Shard& shard : (*this)[copies].shards) least = std::min(least, far(shard));
  for (const Shard& shard : (*this)[copies].shards)
    if (far(shard) == least) known.push_back(shard.device);
  return known;
}

}  // namespace strato
