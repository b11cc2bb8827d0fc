#include "core/program/value/program.h"

#include "core/base/quantity_text.h"
#include "core/program/value/collective.h"

namespace strato {

std::string_view name_of(TaskKind kind) {
  switch (kind) {
    case TaskKind::Compute:
      return "Compute";
    case TaskKind::Split:
      return "Split";
    case TaskKind::Concat:
      return "Concat";
    case TaskKind::Sum:
      return "Sum";
    case TaskKind::Transfer:
      return "Transfer";
    case TaskKind::AllReduce:
      return "AllReduce";
    case TaskKind::AllGather:
      return "AllGather";
    case TaskKind::ReduceScatter:
      return "ReduceScatter";
    case TaskKind::Reduce:
      return "Reduce";
    case TaskKind::Broadcast:
      return "Broadcast";
    case TaskKind::Update:
      return "Update";
  }
  return "Compute";
}

std::size_t Program::resource_count() const {
  return 2 * cluster->device_count() + cluster->links().size();
}

std::string Program::resource_name(ResourceId resource) const {
  const std::size_t streams = 2 * cluster->device_count();
  if (resource.index() >= streams) return cluster->links()[LinkId(resource.index() - streams)].name;
  return cluster->device(DeviceId(resource.index() / 2)).name +
         (resource.index() % 2 == 0 ? " compute" : " comm");
}

std::vector<AxisRange> Program::ranges_of(const Task& task) const {
  std::vector<AxisRange> ranges{{task.axis, task.first_sample, task.first_sample + task.samples}};
  for (const AxisRange& range : more_cuts_of(task))
    if (range.axis >= 0) ranges.push_back(range);
  return ranges;
}

std::string Program::task_name(TaskId id) const {
  const Task& task = tasks[id];
  if (const std::size_t gradients = gradient_count(*this, id); gradients > 1)
    return "AllReduce " + std::to_string(gradients) + " gradients (" + bytes_text(task.bytes) + ")";
  const bool is_op = task.kind == TaskKind::Compute || task.kind == TaskKind::Update;
  const bool keeps = task.kind == TaskKind::Split && writes[id.index()].empty();
  std::string name = is_op ? graph->op(task.op).name
                           : std::string(keeps ? "Keep" : name_of(task.kind)) + " " +
                                 graph->tensor(task.tensor).name;
  if (task.device.valid() && (!is_communication(task.kind) || task.target.valid()))
    name += " @" + cluster->device(task.device).name;
  if (task.target.valid()) name += ">" + cluster->device(task.target).name;
  if (task.axis >= 0) return name + " " + describe(ranges_of(task));
  if (task.samples != graph->batch())
    name += " [" + std::to_string(task.first_sample) + "," +
            std::to_string(task.first_sample + task.samples) + ")";
  return name;
}

}  // namespace strato
