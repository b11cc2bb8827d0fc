#include "core/program/value/collective.h"

#include <algorithm>

namespace strato {

std::vector<DeviceId> members_of(const Program& program, TaskId task) {
  std::vector<DeviceId> members;
  const TaskKind kind = program.tasks[task].kind;
  if (!is_communication(kind) || kind == TaskKind::Transfer) return members;
  const std::size_t streams = 2 * program.cluster->device_count();
  for (const ResourceId resource : program.resources[task.index()])
    if (resource.index() < streams) members.push_back(DeviceId(resource.index() / 2));
  return members;
}

std::optional<Collective> collective_of(TaskKind kind) {
  switch (kind) {
    case TaskKind::AllReduce:
      return Collective::AllReduce;
    case TaskKind::AllGather:
      return Collective::AllGather;
    case TaskKind::ReduceScatter:
      return Collective::ReduceScatter;
    case TaskKind::Reduce:
      return Collective::Reduce;
    case TaskKind::Broadcast:
      return Collective::Broadcast;
    default:
      return std::nullopt;
  }
}

std::vector<TensorId> tensors_of(const Program& program, TaskId task) {
  const Task& of = program.tasks[task];
  if (gradient_count(program, task) <= 1) return {of.tensor};
  std::vector<TensorId> tensors;
  for (const BufferId buffer : program.reads[task.index()])
    if (program.buffers[buffer].device == of.device)
      tensors.push_back(program.buffers[buffer].tensor);
  return tensors;
}

std::size_t gradient_count(const Program& program, TaskId task) {
  const Task& of = program.tasks[task];
  if (of.kind != TaskKind::AllReduce) return 1;
  const auto reads = program.reads[task.index()];
  return static_cast<std::size_t>(std::count_if(reads.begin(), reads.end(), [&](BufferId buffer) {
    return program.buffers[buffer].device == of.device;
  }));
}

}  // namespace strato
