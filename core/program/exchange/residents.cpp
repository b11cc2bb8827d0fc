#include "core/program/exchange/residents.h"

namespace strato {

void Residents::start() {
  slices_.clear();
  more_bytes_.clear();
  carried_.clear();
  samples_.assign(tables_.slots.size() * tables_.cluster->device_count(), Samples());
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

void Residents::add_reader(OpId op, TensorId tensor) {
  const Layout& layout = placement_.layout(op);
  const bool part = layout.sharded && tables_.tensors[tensor].kind == BatchKind::Batched;
  for (const Shard& shard : layout.shards)
    add(tensor, shard.device, part ? shard.begin : 0, part ? shard.end : tables_.batch);
}

// Each part of a parameter whose update is split is where it is updated.
void Residents::add_homes(TensorId parameter) {
  const OpId update = tables_.tensors[parameter].op;
  const Layout& homes = placement_.homes(update);
  for (std::size_t i = 0; i < homes.shards.size(); ++i)
    if (homes.is_split())
      add_slice(parameter, homes.shards[i].device, homes.range(i, placement_.split(update).axis));
    else
      add_all(parameter, homes.shards[i].device);
}

void Residents::forget(TensorId tensor) {
  for (std::size_t d = 0; d < tables_.cluster->device_count(); ++d)
    samples_[cell(tensor, DeviceId(d))] = Samples();
}

Bytes Residents::slice_bytes_at(const Place& place) const {
  if (const auto more = more_bytes_.find(place); more != more_bytes_.end()) return more->second;
  const auto slice = slices_.find(place);
  return slice == slices_.end() ? Bytes(0)
                                : std::max(Bytes(1), bytes_of(tables_.graph->tensor(place.second),
                                                              slice->second, tables_.batch));
}

void Residents::list(std::vector<Resident>& residents) const {
  residents.clear();
  const bool has_slices = !slices_.empty() || !more_bytes_.empty();
  for (std::size_t d = 0; d < tables_.cluster->device_count(); ++d)
    for (const TensorId tensor : tables_.slots) {
      const Place place(DeviceId(d), tensor);
      Bytes here = bytes(tensor, place.first);
      if (here == Bytes(0) && has_slices) here = slice_bytes_at(place);
      if (here > Bytes(0)) residents.push_back({tensor, place.first, here});
    }
  if (carried_.empty()) return;
  for (const auto& [at, bytes] : carried_) residents.push_back({at.second, at.first, bytes});
  std::ranges::sort(residents, {}, [](const Resident& resident) {
    return std::pair(resident.device, resident.tensor);
  });
}

}  // namespace strato
