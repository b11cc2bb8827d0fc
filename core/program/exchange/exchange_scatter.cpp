// Collectives of parts: what ZeRO needs (Rajbhandari, Rasley, Ruwase, He 2020, "ZeRO: memory
// optimizations toward training trillion parameter models", sections 5.2, 5.3 and 7).
//
// Replicas whose updates are split keep a parameter and its optimizer state in parts. Each needs
// just its slice of the summed up gradient (ReduceScatter), and all of the parameter (AllGather).
// Whether a tensor goes this way depends on its readers alone, not on who asks first.
#include <algorithm>

#include "core/base/error.h"
#include "core/program/exchange/exchange.h"

namespace strato {

Exchange::SliceRead Exchange::slice_read_by(OpId op, TensorId tensor) const {
  const LayoutId layout = placement_.layout_id(op);
  if (!placement_.layout(layout).is_split()) return {};
  const std::span<const TensorId> inputs = tables_.inputs(op);
  const auto at = std::find(inputs.begin(), inputs.end(), tensor) - inputs.begin();
  const int axis = placement_.split(op).inputs[static_cast<std::size_t>(at)];
  return axis < 0 ? SliceRead() : SliceRead{layout, axis};
}

// Do the owners of these partial sums, and nobody else, need the slices that `read` says?
bool Exchange::is_scattered(TensorId tensor, const SliceRead& read) const {
  const Made& made = made_[tensor];
  if (made.form != Form::Partials || read.axis < 0) return false;
  for (OpId consumer : tables_.graph->consumers(tensor))
    if (slice_read_by(consumer, tensor) != read) return false;
  const auto& owners = placement_.layout(made.layout).shards;
  const auto& readers = placement_.layout(read.layout).shards;
  return std::equal(owners.begin(), owners.end(), readers.begin(), readers.end(),
                    [](const Shard& a, const Shard& b) { return a.device == b.device; });
}

void Exchange::reduce_scatter(TensorId tensor, const SliceRead& read) {
  const Made made = made_[tensor];
  const Layout& readers = placement_.layout(read.layout);
  const std::int32_t extent = readers.cuts.back();
  Task task = communication(TaskKind::ReduceScatter, tensor);
  const CollectiveCost& cost = collective_cost(Collective::ReduceScatter, made.layout, task.bytes);
  set_slice(task, {read.axis, 0, extent, extent});
  task.device = members_.front();
  task.duration = cost.duration;
  task.latency = std::min(cost.latency, cost.duration);
  const TaskId id = emitter_.next_task();
  for (std::size_t i = 0; i < members_.size(); ++i) {
    emitter_.read(made_at(made, i));
    const AxisSlice slice = slice_of(readers, i, read.axis);
    const BufferId sum =
        emitter_.write(tensor, members_[i], bytes_of(tensor, slice), part_of(slice));
    parts_[tensor].copies.push_back({slice, {sum, id, members_[i], 0, tables_.batch}});
  }
  emitter_.commit_collective(task, members_, cost.links);
}

// Is a parameter that is kept in parts read whole on all devices that keep it, and nowhere else?
bool Exchange::is_gathered_at_home(TensorId parameter) {
  const LayoutId homes = placement_.homes_id(tables_.tensors[parameter].op);
  const int axis = parts_.at(parameter).axis;
  return needed_by_all_of(placement_.layout(homes), parameter, [&](OpId consumer) {
    return slice_read_by(consumer, parameter).axis == axis;
  });
}

Instance Exchange::all_gather_parts(TensorId parameter, DeviceId device) {
  const LayoutId homes = placement_.homes_id(tables_.tensors[parameter].op);
  const Layout& keepers = placement_.layout(homes);
  const int axis = parts_.at(parameter).axis;
  Task task = communication(TaskKind::AllGather, parameter);
  const CollectiveCost& cost = collective_cost(Collective::AllGather, homes, task.bytes);
  set_slice(task, {axis, 0, keepers.cuts.back(), keepers.cuts.back()});
  task.device = members_.front();
  task.duration = cost.duration;
  task.latency = std::min(cost.latency, cost.duration);
  const TaskId id = emitter_.next_task();
  for (std::size_t i = 0; i < members_.size(); ++i)
    emitter_.read(resident_slice(parameter, members_[i], slice_of(keepers, i, axis)));
  for (DeviceId member : members_)
    remember(parameter,
             {emitter_.write(parameter, member, task.bytes, kWhole), id, member, 0, tables_.batch});
  emitter_.commit_collective(task, members_, cost.links);
  return *local(parameter, device, 0, tables_.batch);
}

}  // namespace strato
