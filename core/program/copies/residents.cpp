#include "core/program/copies/residents.h"

namespace strato {

void Residents::start() {
  slices_.clear();
  parts_.clear();
  part_count_ = 0;
  carried_.clear();
  const auto blocks = static_cast<std::size_t>(tables_.micro_batches);
  samples_.assign(blocks * tables_.slots.size() * kept_devices(tables_, placement_), SampleRange());
  for (OpId update : tables_.updates)
    for (TensorId input : tables_.inputs(update))
      if (tables_.updates_here(update, input)) add_homes(input);
}

void Residents::add_slice(TensorId tensor, DeviceId device, const AxisRange& range) {
  const auto [at, fresh] = slices_.try_emplace({device, tensor}, Part().cut(range));
  if (fresh) return;
  Part& known = at->second;
  const AxisRange* same = known.along(range.axis);
  known = same ? known.cut({range.axis, std::min(same->begin, range.begin),
                            std::max(same->end, range.end)})
               : Part();
}

void Residents::add_kept(TensorId tensor, DeviceId device, const Part& part) {
  if (part.is_whole())
    add_all(tensor, device);
  else if (part.cuts().size() == 1)
    add_slice(tensor, device, part.first());
  else
    add_part(tensor, device, part);
}

void Residents::add_reader(OpId op, TensorId tensor) {
  const std::size_t shards = placement_.layout(op).shards.size();
  for (std::size_t i = 0; i < shards; ++i) add_reader(op, tensor, i);
}

void Residents::add_reader(OpId op, TensorId tensor, std::size_t shard) {
  const Layout& layout = placement_.layout(op);
  const AxisRange samples = placement_.layouts().range(layout, shard, kBatchAxis);
  add(tensor, layout.shards[shard].device, samples.begin, samples.end);
}

// Each part of a parameter whose update is split is where it is updated.
void Residents::add_homes(TensorId parameter) {
  const OpId update = tables_.tensors[parameter].op;
  const Layout& homes = placement_.homes(update);
  for (std::size_t i = 0; i < homes.shards.size(); ++i) {
    const DeviceId device = homes.shards[i].device;
    if (homes.is_mesh)
      add_kept(parameter, device, letters_.kept(update, parameter, i));
    else if (homes.is_split())
      add_slice(parameter, device, homes.range(i, placement_.split(update)->axis));
    else
      add_all(parameter, device);
  }
}

void Residents::forget(TensorId tensor) {
  const auto slot = static_cast<std::size_t>(tables_.tensors[tensor].slot);
  for (std::size_t i = 0; i < kept_devices(tables_, placement_); ++i)
    samples_[i * tables_.slots.size() + slot] = SampleRange();
}

void Residents::repeat_samples(std::int32_t micro) {
  const std::size_t block = tables_.slots.size() * kept_devices(tables_, placement_);
  const std::size_t first = static_cast<std::size_t>(micro) * block;
  for (std::int32_t next = micro + 1; next < tables_.micro_batches; ++next)
    for (std::size_t i = 0; i < block; ++i) {
      const SampleRange& like = samples_[first + i];
      if (like.begin == like.end) continue;
      const std::int32_t by = (next - micro) * tables_.micro_batch;
      samples_[static_cast<std::size_t>(next) * block + i] = {like.begin + by, like.end + by};
    }
}

// Is it all of the tensor?
bool Residents::add_samples(PartIndex& ids, Place place, const SampleRange& has,
                            std::vector<Resident>& residents) const {
  const auto& [device, tensor] = place;
  const bool all = has.end - has.begin == tables_.batch;
  residents.push_back(
      {tensor, device, bytes(tensor, has), all ? kWhole : ids.samples(has.begin, has.end)});
  return all;
}

// Of all micro-batches; ranges that follow each other are one. Is it all of the tensor?
bool Residents::list_samples(PartIndex& ids, Place place, std::size_t cell,
                             std::vector<Resident>& residents) const {
  const std::size_t block = tables_.slots.size() * kept_devices(tables_, placement_);
  SampleRange has = samples_[cell];
  for (std::size_t at = cell + block; at < samples_.size(); at += block) {
    const SampleRange& next = samples_[at];
    if (next.begin == next.end) continue;
    const bool follows = has.begin < has.end && has.end == next.begin;
    if (!follows && has.begin < has.end) add_samples(ids, place, has, residents);
    has = follows ? SampleRange{has.begin, next.end} : next;
  }
  return has.begin < has.end && add_samples(ids, place, has, residents);
}

// Parts that are all of it together are one, and there is nothing else of it.
void Residents::list_parts(PartIndex& ids, Place place, std::vector<Resident>& residents) const {
  const auto& [device, tensor] = place;
  const auto parts = parts_.find(place);
  const auto slice = slices_.find(place);
  std::span<const Part> here;
  if (parts != parts_.end())
    here = parts->second;
  else if (slice != slices_.end())
    here = {&slice->second, 1};
  Bytes all;
  for (const Part& part : here) {
    const Bytes bytes =
        std::max(Bytes(1), bytes_of(tables_.graph->tensor(tensor), part, tables_.batch));
    residents.push_back({tensor, device, bytes, ids.find(part)});
    all += bytes;
  }
  if (here.empty() || all < tables_.tensors[tensor].bytes) return;
  while (!residents.empty() && Place(residents.back().device, residents.back().tensor) == place)
    residents.pop_back();
  residents.push_back({tensor, device, all, kWhole});
}

void Residents::list(PartIndex& ids, std::vector<Resident>& residents) const {
  residents.clear();
  const bool has_parts = !slices_.empty() || !parts_.empty();
  std::size_t cell = 0;  // of the first micro-batch
  for (const DeviceId device : tables_.cluster->devices().ids()) {
    if (placement_.fold() != nullptr && !placement_.fold()->keeps(device)) continue;
    for (const TensorId tensor : tables_.slots) {
      const Place place(device, tensor);
      const bool has_all = list_samples(ids, place, cell++, residents);
      if (has_parts && !has_all) list_parts(ids, place, residents);
    }
  }
  if (carried_.empty()) return;
  residents.insert(residents.end(), carried_.begin(), carried_.end());
  std::ranges::stable_sort(residents, {}, [](const Resident& resident) {
    return std::pair(resident.device, resident.tensor);
  });
}

}  // namespace strato
