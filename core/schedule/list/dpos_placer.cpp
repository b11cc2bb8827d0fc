#include "core/schedule/list/dpos_placer.h"

#include <algorithm>

#include "core/base/at.h"

namespace strato {

PartialSchedule DposPlacer::nothing_placed() const {
  PartialSchedule partial;
  partial.idle.resize(cluster_.device_count());
  for (std::size_t d = 0; d < cluster_.device_count(); ++d)
    partial.left.push_back(Bytes(static_cast<std::int64_t>(
        static_cast<double>(cluster_.gpu(DeviceId(d)).memory.value) * memory_)));
  partial.group_at.resize(dag_.group_count());
  return partial;
}

// The memory that has to be free on a device for the node; none where its group already has its
// own.
Bytes DposPlacer::need(NodeIndex node, std::span<const DeviceId> group_at) const {
  const std::int32_t group = dag_.colocation(node);
  if (group < 0) return dag_.memory(node);
  return group_at[at(group)].valid() ? Bytes() : dag_.group_memory(group);
}

DeviceId DposPlacer::choose_path_device(std::span<const NodeIndex> remaining,
                                        std::span<const Bytes> memory,
                                        std::span<const DeviceId> group_at) const {
  DeviceId best;
  unsigned __int128 best_sum = 0, best_count = 1;
  std::vector<std::int32_t> groups;  // that are simulated to be there
  for (const DeviceId device : devices_) {
    Bytes left = memory[device.index()];
    unsigned __int128 sum = 0, count = 0;
    groups.clear();
    for (const NodeIndex node : remaining) {
      const std::int32_t group = dag_.colocation(node);
      const DeviceId demanded = group < 0 ? DeviceId() : group_at[at(group)];
      if (demanded.valid() && demanded != device) continue;
      if (!demanded.valid() && (group < 0 || std::ranges::find(groups, group) == groups.end())) {
        const Bytes bytes = need(node, group_at);
        if (bytes > left) break;
        left -= bytes;
        if (group >= 0) groups.push_back(group);
      }
      sum += static_cast<std::uint64_t>(time(node, device).value);
      ++count;
    }
    if (count == 0) continue;
    if (best.valid() && sum * best_count >= best_sum * count) continue;
    best = device;
    best_sum = sum;
    best_count = count;
  }
  return best;
}

void DposPlacer::find_ready(NodeIndex node, std::span<const PlacedNode> placed,
                            std::vector<Nanos>& ready) const {
  ready.assign(cluster_.device_count(), {});
  for (const EditableDag::Half& half : dag_.predecessors(node)) {
    const PlacedNode& from = placed[at(half.node)];
    const Nanos* times = transfers_.times_of(half.row);
    const std::uint16_t* kinds = transfers_.class_of(from.device);
    for (const DeviceId device : devices_) {
      Nanos& moment = ready[device.index()];
      moment = std::max(moment, from.finish + times[kinds[device.index()]]);
    }
  }
}

DeviceId DposPlacer::earliest_finish(NodeIndex node, std::span<const Nanos> ready,
                                     const PartialSchedule& partial) const {
  const Bytes bytes = need(node, partial.group_at);
  DeviceId best;
  Nanos least;
  for (const DeviceId device : devices_) {
    if (bytes > partial.left[device.index()]) continue;
    const Nanos duration = time(node, device);
    if (best.valid() && ready[device.index()] + duration >= least) continue;
    const Nanos finish =
        partial.idle[device.index()].earliest(ready[device.index()], duration) + duration;
    if (best.valid() && finish >= least) continue;
    best = device;
    least = finish;
  }
  return best;
}

DposPlacer::Selection DposPlacer::select(NodeIndex node, std::span<const NodeIndex> remaining,
                                         std::span<const Nanos> ready,
                                         PartialSchedule& partial) const {
  using Why = PlanningSteps::Why;
  const std::int32_t group = dag_.colocation(node);
  if (group >= 0 && partial.group_at[at(group)].valid())
    return {partial.group_at[at(group)], Why::Colocated};
  Selection selection{{}, Why::EarliestFinish};
  if (remaining.empty()) {
    selection.device = earliest_finish(node, ready, partial);
  } else {
    const Bytes bytes = need(node, partial.group_at);
    DeviceId& device = partial.path_device;
    const auto has_room = [&] { return device.valid() && bytes <= partial.left[device.index()]; };
    if (!has_room()) {
      const DeviceId next = choose_path_device(remaining, partial.left, partial.group_at);
      selection.chose_path_device = next.valid();
      if (next.valid()) device = next;
    }
    selection.why = Why::CriticalPath;
    if (has_room()) selection.device = device;
  }
  if (selection.device.valid()) return selection;
  selection.why = Why::BestEffort;  // the emptiest
  selection.device = *std::ranges::max_element(
      devices_, {}, [&](DeviceId device) { return partial.left[device.index()]; });
  return selection;
}

PlacedNode DposPlacer::at_earliest(NodeIndex node, DeviceId device, std::span<const Nanos> ready,
                                   const PartialSchedule& partial) const {
  const Nanos duration = time(node, device);
  const Nanos start = partial.idle[device.index()].earliest(ready[device.index()], duration);
  return {start, start + duration, device};
}

void DposPlacer::put(NodeIndex node, const PlacedNode& placed, PartialSchedule& partial) const {
  const std::int32_t group = dag_.colocation(node);
  const Bytes bytes = need(node, partial.group_at);
  Bytes& left = partial.left[placed.device.index()];
  partial.fits = partial.fits && bytes <= left;
  left -= bytes;
  if (group >= 0) partial.group_at[at(group)] = placed.device;
  partial.idle[placed.device.index()].occupy(placed.start, placed.finish - placed.start);
  partial.makespan = std::max(partial.makespan, placed.finish);
}

std::vector<PlanningSteps::Candidate> DposPlacer::candidates(NodeIndex node,
                                                             std::span<const Nanos> ready,
                                                             const PartialSchedule& partial) const {
  const Bytes bytes = need(node, partial.group_at);
  std::vector<PlanningSteps::Candidate> candidates;
  for (const DeviceId device : devices_) {
    const PlacedNode there = at_earliest(node, device, ready, partial);
    candidates.push_back(
        {device, there.start, there.finish, bytes <= partial.left[device.index()]});
  }
  return candidates;
}

}  // namespace strato
