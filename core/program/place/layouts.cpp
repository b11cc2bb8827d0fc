#include "core/program/place/layouts.h"

#include <algorithm>
#include <limits>

#include "core/base/error.h"
#include "core/program/place/symmetry.h"

namespace strato {
namespace {

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

bool have_same_devices(const Layout& a, const Layout& b) {
  return &a == &b || std::ranges::equal(a.shards, b.shards, {}, &Shard::device, &Shard::device);
}

Layouts::Layouts(Tables& tables) : tables_(tables) { forget(); }

bool Layouts::forget_if_many() {
  constexpr std::size_t kMostLayouts = 2048;
  const bool many = known_.size() >= kMostLayouts || tables_.is_large();
  if (many) forget();
  return many;
}

LayoutId Layouts::add(bool sharded, const std::vector<Shard>& shards) {
  Layout layout;
  layout.sharded = sharded;
  layout.shards = shards;
  layout.position.assign(tables_.cluster->device_count(), -1);
  for (std::size_t i = 0; i < shards.size(); ++i)
    layout.position[shards[i].device.index()] = static_cast<std::int32_t>(i);
  known_.push_back({std::move(layout), {}, -1});
  return static_cast<LayoutId>(known_.size() - 1);
}

void Layouts::forget() {
  ++generation_;
  known_.clear();
  by_hash_.clear();
  folded_.clear();
  of_parts_.clear();
  tables_.forget();
  for (std::size_t d = 0; d < tables_.cluster->device_count(); ++d) {
    const Device& device = tables_.cluster->device(DeviceId(d));
    add(false, {{DeviceId(d), 0, tables_.batch, tables_.column(device.type, tables_.batch)}});
  }
}

LayoutId Layouts::of_samples(bool sharded, std::span<const DeviceShare> devices,
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
  if (scratch_.size() == 1) return on(scratch_[0].device);
  const std::uint64_t hash = hash_of(sharded, scratch_);
  const auto [first, last] = by_hash_.equal_range(hash);
  for (auto at = first; at != last; ++at) {
    const Layout& known = (*this)[at->second];
    if (known.sharded == sharded &&
        std::equal(known.shards.begin(), known.shards.end(), scratch_.begin(), scratch_.end(),
                   [](const Shard& a, const Shard& b) {
                     return a.device == b.device && a.begin == b.begin && a.end == b.end;
                   }))
      return at->second;
  }
  return by_hash_.emplace(hash, add(sharded, scratch_))->second;
}

LayoutId Layouts::of_parts(const OpSplit& split, std::int64_t extent) {
  CHECK(extent < std::numeric_limits<std::int32_t>::max(), "an axis that is too long");
  const std::vector<std::int64_t> sizes = apportion(extent, split.parts);
  std::vector<std::int32_t> key, cuts = {0};
  scratch_.clear();
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 0) continue;
    const DeviceId device = split.parts[i].device;
    const GpuTypeId gpu = tables_.cluster->device(device).type;
    scratch_.push_back({device, 0, tables_.batch, tables_.column(gpu, tables_.batch)});
    cuts.push_back(cuts.back() + static_cast<std::int32_t>(sizes[i]));
    key.push_back(device.value());
    key.push_back(cuts.back());
  }
  CHECK(!scratch_.empty(), "a split op without parts");
  if (scratch_.size() == 1) return on(scratch_[0].device);
  const auto [at, fresh] = of_parts_.try_emplace(std::move(key));
  if (fresh) {
    at->second = add(false, scratch_);
    known_.back().layout.cuts = std::move(cuts);
  }
  return at->second;
}

LayoutId Layouts::folded(LayoutId id, const Fold& fold) {
  scratch_.clear();
  const Layout& all = (*this)[id];
  for (const Shard& shard : all.shards)
    if (fold.keeps(shard.device)) scratch_.push_back(shard);
  if (scratch_.size() == all.shards.size()) return id;
  const auto [first, last] = folded_.equal_range(id);
  for (auto at = first; at != last; ++at) {
    const auto& known = (*this)[at->second].shards;
    if (std::equal(known.begin(), known.end(), scratch_.begin(), scratch_.end(),
                   [](const Shard& a, const Shard& b) { return a.device == b.device; }))
      return at->second;
  }
  const LayoutId part = add(all.sharded, scratch_);
  known_.back().unfolded = id;
  folded_.emplace(id, part);
  return part;
}

std::span<const DeviceId> Layouts::nearest(LayoutId copies, DeviceId to) {
  std::vector<DeviceId>& known = known_[static_cast<std::size_t>(copies)].nearest[to];
  if (!known.empty()) return known;
  const Device& here = tables_.cluster->device(to);
  const auto distance = [&](DeviceId from) {
    const Device& device = tables_.cluster->device(from);
    return device.group == here.group ? 1 : device.machine == here.machine ? 2 : 3;
  };
  int least = 3;
  for (const Shard& shard : (*this)[copies].shards) least = std::min(least, distance(shard.device));
  for (const Shard& shard : (*this)[copies].shards)
    if (distance(shard.device) == least) known.push_back(shard.device);
  return known;
}

}  // namespace strato
