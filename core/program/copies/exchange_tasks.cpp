#include "core/program/copies/exchange_tasks.h"

#include <algorithm>
#include <limits>

#include "core/base/error.h"
#include "core/program/value/collective.h"

namespace strato {

void ExchangeTasks::start(Bytes bucket) {
  bucket_ = bucket;
  constexpr std::size_t kMostCollectives = 50'000;
  if (generation_ != placement_.layouts().generation() ||
      collective_costs_.size() > kMostCollectives)
    collective_costs_.clear();
  generation_ = placement_.layouts().generation();
}

// Consumers come after producers. A view has no task: its readers decide.
void ExchangeTasks::set_priorities(std::span<const std::int32_t> priorities) {
  priorities_ = priorities;
  priority_of_.clear();
  if (priorities.empty()) return;
  const Graph& graph = *tables_.graph;
  CHECK(priorities.size() == graph.op_count(), "priorities of another graph");
  constexpr std::int32_t kNone = std::numeric_limits<std::int32_t>::max();
  priority_of_.assign(graph.tensor_count(), kNone);
  const auto raise = [&](OpId op, std::int32_t priority) {
    for (TensorId input : tables_.inputs(op))
      priority_of_[input] = std::min(priority_of_[input], priority);
  };
  for (std::size_t i = graph.op_count(); i-- > 0;) {
    std::int32_t first = kNone;
    if (tables_.ops[OpId(i)].alias)
      for (TensorId output : tables_.outputs(OpId(i)))
        first = std::min(first, priority_of_[output]);
    raise(OpId(i), first == kNone ? priorities[i] : first);
  }
}

PartId ExchangeTasks::part(TensorId tensor, const AxisRange& range) {
  if (range.axis == kBatchAxis) return samples(tensor, range.begin, range.end);
  const Shape& shape = tables_.graph->tensor(tensor).shape;
  if (range.size() == shape[static_cast<std::size_t>(range.axis)]) return kWhole;
  return emitter_.parts().find(Part().cut(range));
}

Bytes ExchangeTasks::bytes_of(TensorId tensor, PartId part) const {
  const TensorFacts& facts = tables_.tensors[tensor];
  if (part == kWhole) return facts.bytes;
  const Part& of = emitter_.program().parts[part];
  const AxisRange* samples = of.along(kBatchAxis);
  if (of.cuts().empty())
    return samples ? slice_bytes(facts, samples->begin, samples->end, tables_.batch) : facts.bytes;
  return std::max(Bytes(1), strato::bytes_of(tables_.graph->tensor(tensor), of, tables_.batch));
}

Task ExchangeTasks::communication(TaskKind kind, TensorId tensor) const {
  Task task;
  task.kind = kind;
  task.op = tables_.tensors[tensor].op;
  task.tensor = tensor;
  task.bytes = tables_.tensors[tensor].bytes;
  task.priority = priority(tensor);
  return task;
}

Nanos ExchangeTasks::move_time(DeviceId device, Bytes moved) const {
  const GpuTypeId gpu = tables_.cluster->device(device).type;
  return std::max(Nanos(1), tables_.cost->local_move(gpu, moved));
}

void ExchangeTasks::set_transfer(Task& task, DeviceId from, DeviceId to) const {
  const Path& path = tables_.cluster->path(from, to);
  task.device = from;
  task.target = to;
  task.duration = std::max(Nanos(1), tables_.cost->transfer(path, task.bytes));
  task.latency = std::min(path.latency, task.duration);
}

Nanos ExchangeTasks::share_of(Nanos time, DeviceId device, std::int64_t some,
                              std::int64_t all) const {
  const auto share = (static_cast<__int128>(time.value) * some + all - 1) / all;
  const GpuTypeId gpu = tables_.cluster->device(device).type;
  return std::max(Nanos(static_cast<std::int64_t>(share)),
                  std::min(time, tables_.cost->local_move(gpu, Bytes(1))));
}

Instance ExchangeTasks::make(Task& task, DeviceId device, PartId part, Bytes bytes) {
  task.device = device;
  task.duration = move_time(device, task.bytes);
  const BufferId buffer = emitter_.write(task.tensor, device, bytes, part);
  return {buffer, emitter_.commit_compute(task), device, part};
}

Instance ExchangeTasks::move(Task& task, const Instance& from, DeviceId to) {
  set_transfer(task, from.device, to);
  emitter_.read(from);
  const BufferId buffer = emitter_.write(task.tensor, to, task.bytes, task.part);
  return {buffer, emitter_.commit_transfer(task), to, task.part};
}

Instance ExchangeTasks::split(TensorId tensor, const Instance& from, PartId part) {
  Task task = communication(TaskKind::Split, tensor);
  const Bytes bytes = bytes_of(tensor, part);
  task.part = part;
  task.bytes = 2 * bytes;
  emitter_.read(from);
  return make(task, from.device, part, bytes);
}

Instance ExchangeTasks::concat(TensorId tensor, DeviceId device, std::span<const Instance> pieces,
                               const AxisRange& range) {
  const PartId made = part(tensor, range);
  const Bytes bytes = bytes_of(tensor, made);
  Task task = communication(TaskKind::Concat, tensor);
  task.part = made == kWhole && range.axis != kBatchAxis ? axis(range) : made;
  task.bytes = 2 * bytes;
  for (const Instance& piece : pieces) emitter_.read(piece);
  return make(task, device, made, bytes);
}

Instance ExchangeTasks::sum(TensorId tensor, DeviceId device, std::span<const Instance> terms) {
  Task task = communication(TaskKind::Sum, tensor);
  const Bytes bytes = task.bytes;
  task.bytes = bytes * static_cast<std::int64_t>(terms.size() + 1);
  for (const Instance& term : terms) emitter_.read(term);
  return make(task, device, kWhole, bytes);
}

TaskId ExchangeTasks::add(TensorId tensor, const Instance& sum, const Instance& term) {
  Task task = communication(TaskKind::Sum, tensor);
  task.device = sum.device;
  task.bytes = bytes_of(tensor, term.part) * 3;
  task.duration = tables_.tensors[tensor].adds_up ? Nanos(1) : move_time(sum.device, task.bytes);
  emitter_.read(sum);
  emitter_.read(term);
  return emitter_.commit_compute(task);
}

Instance ExchangeTasks::send(TensorId tensor, const Instance& from, DeviceId to) {
  Task task = communication(TaskKind::Transfer, tensor);
  task.part = from.part;
  task.bytes = bytes_of(tensor, from.part);
  return move(task, from, to);
}

void ExchangeTasks::send_home(TensorId parameter, OpId update, TaskId updated, DeviceId from,
                              DeviceId home) {
  Task task = communication(TaskKind::Transfer, parameter);
  set_transfer(task, from, home);
  task.priority = priority(update);
  emitter_.depend(updated);
  emitter_.overwrite(tables_.tensors[parameter].slot, home);
  emitter_.commit_transfer(task);
}

const CollectiveCost& ExchangeTasks::collective_cost(TaskKind kind, LayoutId layout, Bytes bytes) {
  const auto [at, fresh] = collective_costs_.try_emplace({layout, kind, bytes});
  if (!fresh) return at->second;
  std::vector<DeviceId> members;  // of which some may be folded away
  const Layouts& layouts = placement_.layouts();
  for (const Shard& owner : layouts[layouts.unfolded(layout)].shards)
    members.push_back(owner.device);
  at->second = tables_.cost->collective(*collective_of(kind), members, bytes);
  at->second.duration = std::max(Nanos(1), at->second.duration);
  return at->second;
}

}  // namespace strato
