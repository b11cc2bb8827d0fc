#include "core/program/place/layouts.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "core/base/at.h"
#include "core/base/error.h"
#include "core/program/place/symmetry.h"

namespace strato {
namespace {

std::uint64_t hash_of(bool sharded, std::span<const Shard> shards,
                      std::span<const std::int32_t> cuts, LayoutId unfolded, const Grid& grid) {
  std::uint64_t hash = sharded ? 1 : 0;
  const auto mix = [&](std::int32_t value) {
    hash = (hash ^ static_cast<std::uint32_t>(value)) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 29;
  };
  mix(unfolded);
  mix(static_cast<std::int32_t>(grid.columns));
  mix(static_cast<std::int32_t>(grid.experts));
  mix(static_cast<std::int32_t>(grid.context));
  mix(static_cast<std::int32_t>(grid.sharers));
  for (const Shard& shard : shards) {
    mix(shard.device.value());
    mix(shard.end);
  }
  for (const std::int32_t cut : cuts) mix(cut);
  return hash;
}

std::uint64_t hash_of_devices(std::span<const Shard> shards) {
  std::uint64_t hash = shards.size();
  for (const Shard& shard : shards) {
    hash = (hash ^ static_cast<std::uint32_t>(shard.device.value())) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 29;
  }
  return hash;
}

// Rows that have positions among them have the same samples.
std::vector<std::int64_t> samples_of_rows(const Decision& decision, std::int64_t batch) {
  const std::size_t context = context_rows_of(decision);
  std::vector<DeviceShare> apart;
  for (std::size_t i = 0; i < decision.devices.size(); i += context * columns_of(decision))
    apart.push_back(decision.devices[i]);
  std::vector<std::int64_t> of_rows;
  for (const std::int64_t samples : apportion(batch, apart))
    of_rows.insert(of_rows.end(), context, samples);
  return of_rows;
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

Part Layout::divided(const Part& of, int axis, std::int64_t extent, Place place) {
  const AxisRange* own = of.along(axis);
  const std::int32_t begin = own ? own->begin : 0;
  const auto all = own ? own->size() : static_cast<std::int32_t>(extent);
  const std::int32_t unit = all / static_cast<std::int32_t>(place.count);
  const std::int32_t at = begin + static_cast<std::int32_t>(place.index) * unit;
  return of.cut({static_cast<std::int8_t>(axis), at, at + unit});
}

bool have_same_grid(const Layout& a, const Layout& b) {
  const auto samples = [](const Shard& shard) { return std::pair(shard.begin, shard.end); };
  return a.is_mesh && a.columns == b.columns && a.context == b.context && a.experts == b.experts &&
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
  const auto made = static_cast<LayoutId>(known_.size());
  const std::vector<Shard>& shards = known.layout.shards;
  const std::uint64_t hash = hash_of_devices(shards);
  known.layout.first_there = made;
  const auto [first, last] = by_devices_.equal_range(hash);
  for (auto at = first; at != last; ++at)
    if (std::ranges::equal((*this)[at->second].shards, shards, {}, &Shard::device, &Shard::device))
      known.layout.first_there = at->second;
  if (known.layout.first_there == made) by_devices_.emplace(hash, made);
  known_.push_back(std::move(known));
  return made;
}

LayoutId Layouts::find(bool sharded, std::vector<std::int32_t> cuts, LayoutId unfolded,
                       const Grid& grid) {
  const std::uint64_t hash = hash_of(sharded, scratch_, cuts, unfolded, grid);
  const auto [first, last] = by_hash_.equal_range(hash);
  for (auto at = first; at != last; ++at) {
    const Known& known = known_[static_cast<std::size_t>(at->second)];
    if (known.layout.sharded == sharded && known.unfolded == unfolded &&
        known.layout.cuts == cuts && static_cast<const Grid&>(known.layout) == grid &&
        std::ranges::equal(known.layout.shards, scratch_, have_same_ranges))
      return at->second;
  }
  const LayoutId made = add({{grid, sharded, scratch_, std::move(cuts)}, {}, unfolded, {}});
  return by_hash_.emplace(hash, made)->second;
}

void Layouts::forget() {
  ++generation_;
  known_.clear();
  by_hash_.clear();
  by_devices_.clear();
  tables_.forget();
  for (std::size_t d = 0; d < tables_.cluster->device_count(); ++d) {
    const Device& device = tables_.cluster->device(DeviceId(d));
    const Tables::Column costs = tables_.column(device.type, tables_.micro_batch);
    add({{{}, false, {{DeviceId(d), 0, tables_.micro_batch, costs}}, {}}, {}, -1, {}});
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

// Of the rows that are in scratch_, perhaps without some that have no samples.
std::size_t Layouts::sharers_of(const Decision& decision, std::size_t experts) const {
  const std::size_t wanted = state_rows_of(decision);
  if (wanted == 1) return 1;
  const std::size_t rows = scratch_.size() / columns_of(decision);
  const bool of_all = decision.roles.states.rows == 0 || rows % wanted != 0;
  return std::max<std::size_t>(1, (of_all ? rows : wanted) / experts);
}

LayoutId Layouts::of_mesh(const Decision& decision, bool sharded, std::size_t experts) {
  const std::vector<std::int64_t> samples = samples_of_rows(decision, tables_.micro_batch);
  if (experts > 1 && std::ranges::count(samples, 0) > 0) return -1;
  const std::size_t columns = columns_of(decision), context = context_rows_of(decision),
                    together = experts * context;  // rows that have the same samples
  sharded =
      sharded && together < samples.size() && std::ranges::count(samples, tables_.micro_batch) == 0;
  scratch_.clear();
  std::int32_t begin = 0;
  for (std::size_t row = 0; row < samples.size(); ++row) {
    if (samples[row] == 0) continue;
    std::int64_t all = 0;
    for (std::size_t i = 0; i < together; i += context)
      all += samples[row / together * together + i];
    const auto count = sharded ? static_cast<std::int32_t>(all) : tables_.micro_batch;
    for (std::size_t i = row * columns; i < (row + 1) * columns; ++i) {
      const DeviceId device = decision.devices[i].device;
      const GpuTypeId gpu = tables_.cluster->device(device).type;
      scratch_.push_back({device, begin, begin + count, tables_.column(gpu, count)});
    }
    if (sharded && (row + 1) % together == 0) begin += count;
  }
  const LayoutId mesh = find(sharded, {}, -1,
                             {.columns = columns,
                              .column_parts = columns,
                              .context = context,
                              .context_parts = context,
                              .experts = experts,
                              .sharers = sharers_of(decision, experts),
                              .is_mesh = true});
  if (lines(mesh, MeshLine::Row).empty()) make_lines(mesh);
  return mesh;
}

void Layouts::add_line(LayoutId mesh, MeshLine kind, std::vector<std::size_t> shards) {
  scratch_.clear();
  for (const std::size_t shard : shards) {
    const DeviceId device = (*this)[mesh].shards[shard].device;
    const GpuTypeId gpu = tables_.cluster->device(device).type;
    scratch_.push_back({device, 0, tables_.micro_batch, tables_.column(gpu, tables_.micro_batch)});
  }
  const LayoutId group = find(false);
  known_[static_cast<std::size_t>(mesh)].lines[static_cast<std::size_t>(kind)].push_back(
      {group, std::move(shards)});
}

void Layouts::make_lines(LayoutId mesh) {
  const Grid grid = (*this)[mesh];
  const std::size_t rows = (*this)[mesh].row_count(), experts = grid.experts,
                    context = grid.context, together = experts * context;
  // In each column these rows.
  const auto add = [&](MeshLine kind, const std::vector<std::size_t>& of_rows) {
    for (std::size_t column = 0; column < grid.columns; ++column) {
      std::vector<std::size_t> shards;
      for (const std::size_t row : of_rows) shards.push_back(row * grid.columns + column);
      add_line(mesh, kind, std::move(shards));
    }
  };
  // Of the rows that have these experts `count`, from the first on, each so many after the other.
  const auto of_peers = [&](std::size_t expert, std::size_t first, std::size_t apart,
                            std::size_t count) {
    std::vector<std::size_t> found;
    for (std::size_t i = first; found.size() < count; i += apart)
      found.push_back(i / context * together + expert * context + i % context);
    return found;
  };
  const std::size_t peers = rows / experts;
  for (std::size_t row = 0; row < rows; ++row) {
    std::vector<std::size_t> shards;
    for (std::size_t i = 0; i < grid.columns; ++i) shards.push_back(row * grid.columns + i);
    add_line(mesh, MeshLine::Row, std::move(shards));
  }
  const auto following = [](std::size_t first, std::size_t apart, std::size_t count) {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < count; ++i) found.push_back(first + i * apart);
    return found;
  };
  if (rows > 1) add(MeshLine::Column, following(0, 1, rows));
  for (std::size_t first = 0; context > 1 && first < rows; first += context)
    add(MeshLine::Context, following(first, 1, context));
  for (std::size_t expert = 0; context > 1 && context < peers && expert < experts; ++expert)
    for (std::size_t place = 0; place < context; ++place)
      add(MeshLine::SamePlace, of_peers(expert, place, context, peers / context));
  for (std::size_t first = 0; experts > 1 && first < rows; first += together)
    for (std::size_t place = 0; place < context; ++place)
      add(MeshLine::Experts, following(first + place, context, experts));
  for (std::size_t expert = 0; experts > 1 && experts < rows && expert < experts; ++expert)
    add(MeshLine::Peers, of_peers(expert, 0, 1, peers));
  if (grid.sharers == 1) return;
  for (std::size_t first = 0; first < peers; first += grid.sharers)
    for (std::size_t expert = 0; expert < experts; ++expert)
      add(MeshLine::Sharers, of_peers(expert, first, 1, grid.sharers));
  for (std::size_t share = 0; grid.sharers < peers && share < grid.sharers; ++share)
    for (std::size_t expert = 0; expert < experts; ++expert)
      add(MeshLine::SameShare, of_peers(expert, share, grid.sharers, peers / grid.sharers));
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
  if (!all.is_mesh) return find(all.sharded, {}, id);
  const std::size_t first_row = all.row(at(all.position(scratch_.front().device)));
  const auto columns = static_cast<std::size_t>(std::ranges::count_if(
      all.members_of_row(first_row), [&](const Shard& shard) { return fold.keeps(shard.device); }));
  Grid grid = all;
  grid.columns = columns;
  grid.context = 0;  // of the rows that have the first one's samples
  for (std::size_t row = first_row; row < first_row + all.context; ++row)
    grid.context += fold.keeps(all.members_of_row(row).front().device);
  const LayoutId mesh = find(all.sharded, {}, id, grid);
  if (lines(mesh, MeshLine::Row).empty()) fold_lines(mesh, fold);
  return mesh;
}

// What is left of its lines.
void Layouts::fold_lines(LayoutId mesh, const Fold& fold) {
  const auto all = known(unfolded(mesh)).lines;  // a copy: more layouts are added
  const std::vector<Shard> shards = (*this)[unfolded(mesh)].shards;
  std::array<std::vector<LineOfMesh>, kMeshLines> kept;
  for (std::size_t kind = 0; kind < kMeshLines; ++kind)
    for (const LineOfMesh& line : all[kind]) {
      std::vector<std::size_t> left;
      for (const std::size_t shard : line.shards)
        if (const DeviceId device = shards[shard].device; fold.keeps(device))
          left.push_back(at((*this)[mesh].position(device)));
      if (!left.empty()) kept[kind].push_back({folded(line.group, fold), std::move(left)});
    }
  known_[static_cast<std::size_t>(mesh)].lines = std::move(kept);
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
