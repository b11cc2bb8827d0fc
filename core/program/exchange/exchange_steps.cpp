// The tasks that exchanges are made of.
#include <algorithm>

#include "core/base/error.h"
#include "core/program/exchange/exchange.h"

namespace strato {

Task Exchange::communication(TaskKind kind, TensorId tensor) const {
  Task task;
  task.kind = kind;
  task.op = tables_.tensors[tensor].op;
  task.tensor = tensor;
  task.samples = tables_.batch;
  task.bytes = tables_.tensors[tensor].bytes;
  task.priority = priority_of(tensor);
  return task;
}

// Parts along an axis that is not known count as the whole batch.
void Exchange::set_slice(Task& task, const AxisSlice& slice) {
  if (slice.axis < 0) return;
  task.axis = static_cast<std::int8_t>(slice.axis);
  task.first_sample = slice.begin;
  task.samples = slice.end - slice.begin;
}

PartId Exchange::part_of(TensorId tensor, const Instance& instance) {
  const BatchKind kind = tables_.tensors[tensor].kind;
  if (kind == BatchKind::Whole || instance.end - instance.begin == tables_.batch) return kWhole;
  return kind == BatchKind::Batched ? emitter_.parts().samples(instance.begin, instance.end)
                                    : emitter_.parts().partial_sum(instance.begin, instance.end);
}

PartId Exchange::part_of(const AxisSlice& slice) {
  if (slice.end - slice.begin == slice.extent) return kWhole;
  CHECK(slice.axis >= 0, "it is not known along which axis a tensor is divided");
  return emitter_.parts().find(Part::slice(slice.axis, slice.begin, slice.end));
}

Instance Exchange::split(TensorId tensor, const Instance& from, std::int32_t begin,
                         std::int32_t end) {
  Task task = communication(TaskKind::Split, tensor);
  const Bytes bytes = bytes_of(tensor, begin, end);
  task.device = from.device;
  task.first_sample = begin;
  task.samples = end - begin;
  task.bytes = 2 * bytes;
  task.duration = std::max(
      Nanos(1), tables_.cost->local_move(tables_.cluster->device(from.device).type, task.bytes));
  emitter_.read(from);
  Instance made{{}, {}, from.device, begin, end};
  made.buffer = emitter_.write(tensor, from.device, bytes, part_of(tensor, made));
  made.task = emitter_.commit_compute(task);
  return remember(tensor, made);
}

Instance Exchange::concat(TensorId tensor, DeviceId device, std::span<const Instance> pieces) {
  Task task = communication(TaskKind::Concat, tensor);
  task.device = device;
  task.first_sample = pieces.front().begin;
  task.samples = pieces.back().end - task.first_sample;
  const Bytes bytes = bytes_of(tensor, task.first_sample, pieces.back().end);
  task.bytes = 2 * bytes;
  task.duration = std::max(
      Nanos(1), tables_.cost->local_move(tables_.cluster->device(device).type, task.bytes));
  for (const Instance& piece : pieces) emitter_.read(piece);
  Instance made{{}, {}, device, task.first_sample, pieces.back().end};
  made.buffer = emitter_.write(tensor, device, bytes, part_of(tensor, made));
  made.task = emitter_.commit_compute(task);
  return remember(tensor, made);
}

Instance Exchange::send(TensorId tensor, const Instance& from, DeviceId to,
                        const AxisSlice& slice) {
  Task task = communication(TaskKind::Transfer, tensor);
  const Path& path = tables_.cluster->path(from.device, to);
  task.device = from.device;
  task.target = to;
  task.first_sample = from.begin;
  task.samples = from.end - from.begin;
  task.bytes =
      slice == AxisSlice() ? bytes_of(tensor, from.begin, from.end) : bytes_of(tensor, slice);
  set_slice(task, slice);
  task.duration = std::max(Nanos(1), tables_.cost->transfer(path, task.bytes));
  task.latency = std::min(path.latency, task.duration);
  emitter_.read(from);
  Instance made{{}, {}, to, from.begin, from.end};
  made.buffer = emitter_.write(tensor, to, task.bytes,
                               slice.axis < 0 ? part_of(tensor, made) : part_of(slice));
  made.task = emitter_.commit_transfer(task);
  return made;
}

Instance Exchange::transfer(TensorId tensor, const Instance& from, DeviceId to) {
  return remember(tensor, send(tensor, from, to));
}

Instance Exchange::sum_at(TensorId tensor, DeviceId root) {
  const Made made = made_[tensor];
  const Layout& owners = placement_.layout(made.layout);
  std::vector<Instance> terms;
  for (std::size_t i = 0; i < owners.shards.size(); ++i) {
    const Instance term = made_at(made, i);
    terms.push_back(term.device == root ? term : send(tensor, term, root));
  }
  Task task = communication(TaskKind::Sum, tensor);
  const Bytes bytes = task.bytes;
  task.device = root;
  task.bytes = bytes * static_cast<std::int64_t>(terms.size() + 1);
  task.duration =
      std::max(Nanos(1), tables_.cost->local_move(tables_.cluster->device(root).type, task.bytes));
  for (const Instance& term : terms) emitter_.read(term);
  Instance sum{emitter_.write(tensor, root, bytes, kWhole), {}, root, 0, tables_.batch};
  sum.task = emitter_.commit_compute(task);
  made_[tensor].root = root;
  return remember(tensor, sum);
}

const CollectiveCost& Exchange::collective_cost(Collective kind, LayoutId layout, Bytes bytes) {
  members_.clear();
  for (const Shard& owner : placement_.layout(layout).shards) members_.push_back(owner.device);
  const auto [at, fresh] = collective_costs_.try_emplace({layout, kind, bytes});
  if (!fresh) return at->second;
  std::vector<DeviceId> members;  // of which some may be folded away
  for (const Shard& owner : placement_.members(layout)) members.push_back(owner.device);
  at->second = tables_.cost->collective(kind, members, bytes);
  at->second.duration = std::max(Nanos(1), at->second.duration);
  return at->second;
}

void Exchange::all_gather(TensorId tensor) {
  const Made made = made_[tensor];
  Task task = communication(TaskKind::AllGather, tensor);
  const CollectiveCost& cost = collective_cost(Collective::AllGather, made.layout, task.bytes);
  task.device = members_.front();
  task.duration = cost.duration;
  task.latency = std::min(cost.latency, cost.duration);
  for (std::size_t i = 0; i < members_.size(); ++i) emitter_.read(made_at(made, i));
  const TaskId id = emitter_.next_task();
  for (DeviceId member : members_)
    remember(tensor,
             {emitter_.write(tensor, member, task.bytes, kWhole), id, member, 0, tables_.batch});
  emitter_.commit_collective(task, members_, cost.links);
}

void Exchange::all_reduce(TensorId tensor) {
  const Made made = made_[tensor];
  const bool in_place = may_reduce_in_place(tensor);
  Task task = communication(TaskKind::AllReduce, tensor);
  const CollectiveCost& cost = collective_cost(Collective::AllReduce, made.layout, task.bytes);
  task.device = members_.front();
  task.duration = cost.duration;
  task.latency = std::min(cost.latency, cost.duration);
  const TaskId id = emitter_.next_task();
  for (std::size_t i = 0; i < members_.size(); ++i) {
    const Instance partial = made_at(made, i);
    emitter_.read(partial);
    const BufferId result =
        in_place ? partial.buffer : emitter_.write(tensor, members_[i], task.bytes, kWhole);
    remember(tensor, {result, id, members_[i], 0, tables_.batch});
  }
  emitter_.commit_collective(task, members_, cost.links);
}

void Exchange::return_parameter(TensorId parameter, OpId update, TaskId updated) {
  const DeviceId server = placement_.layout(update).shards[0].device;
  for (const Shard& home : placement_.homes(update).shards) {
    if (home.device == server) continue;
    Task task = communication(TaskKind::Transfer, parameter);
    const Path& path = tables_.cluster->path(server, home.device);
    task.device = server;
    task.target = home.device;
    task.priority = priority(update);
    task.duration = std::max(Nanos(1), tables_.cost->transfer(path, task.bytes));
    task.latency = std::min(path.latency, task.duration);
    emitter_.depend(updated);
    emitter_.overwrite(tables_.tensors[parameter].slot, home.device);
    emitter_.commit_transfer(task);
  }
}

}  // namespace strato
