#include "views/models/explanation.h"

#include <algorithm>
#include <map>

namespace strato {
namespace {

PathPart::What what_of(TaskKind kind) {
  switch (kind) {
    case TaskKind::Compute:
      return PathPart::What::Compute;
    case TaskKind::Update:
      return PathPart::What::Update;
    case TaskKind::Split:
    case TaskKind::Concat:
    case TaskKind::Sum:
      return PathPart::What::Reshuffle;
    case TaskKind::Transfer:
      return PathPart::What::Transfer;
    default:
      return PathPart::What::Synchronise;
  }
}

struct Interval {
  std::int64_t begin, end;
};

// Busy intervals of one resource: tasks on it never overlap, so sorting by start is enough.
std::vector<Interval> busy_on(const Timeline& timeline, const std::vector<TaskId>& tasks) {
  std::vector<Interval> busy;
  for (const TaskId task : tasks) {
    const TaskTimes& times = timeline.tasks[task];
    busy.push_back({times.start.value, times.end.value});
  }
  std::sort(busy.begin(), busy.end(),
            [](const Interval& a, const Interval& b) { return a.begin < b.begin; });
  return busy;
}

std::int64_t overlap(const std::vector<Interval>& a, const std::vector<Interval>& b) {
  std::int64_t total = 0;
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    total +=
        std::max<std::int64_t>(0, std::min(a[i].end, b[j].end) - std::max(a[i].begin, b[j].begin));
    (a[i].end < b[j].end ? i : j)++;
  }
  return total;
}

std::vector<std::vector<TaskId>> tasks_by_stream(const Program& program) {
  std::vector<std::vector<TaskId>> tasks(2 * program.cluster->device_count());
  for (std::size_t t = 0; t < program.tasks.size(); ++t) {
    for (const ResourceId resource : program.resources[t]) {
      if (resource.index() < tasks.size()) tasks[resource.index()].push_back(TaskId(t));
    }
  }
  return tasks;
}

}  // namespace

std::vector<PathPart> path_composition(const Timeline& timeline) {
  std::map<std::tuple<PathPart::What, DeviceId, DeviceId>, PathPart> parts;
  for (const CriticalStep& step : critical_path(timeline)) {
    const Task& task = timeline.program->tasks[step.task];
    const PathPart::What what = what_of(task.kind);
    const bool several = what == PathPart::What::Synchronise;
    const DeviceId device = several ? DeviceId() : task.device;
    const DeviceId target = what == PathPart::What::Transfer ? task.target : DeviceId();
    PathPart& part = parts[{what, device, target}];
    part.what = what;
    part.device = device;
    part.target = target;
    part.time += timeline.tasks[step.task].end - timeline.tasks[step.task].start;
    ++part.tasks;
  }
  std::vector<PathPart> result;
  for (const auto& [key, part] : parts) result.push_back(part);
  std::stable_sort(result.begin(), result.end(),
                   [](const PathPart& a, const PathPart& b) { return a.time > b.time; });
  return result;
}

const char* label_of(PathPart::What what) {
  switch (what) {
    case PathPart::What::Compute:
      return "Computes";
    case PathPart::What::Reshuffle:
      return "Splits and joins";
    case PathPart::What::Transfer:
      return "Transfers";
    case PathPart::What::Synchronise:
      return "Synchronises";
    case PathPart::What::Update:
      return "Updates";
  }
  return "";
}

IdVector<DeviceId, DeviceTimes> device_times(const Timeline& timeline) {
  const Program& program = *timeline.program;
  const auto tasks = tasks_by_stream(program);
  IdVector<DeviceId, DeviceTimes> result;
  for (std::size_t d = 0; d < program.cluster->device_count(); ++d) {
    const DeviceId device(d);
    const auto compute = busy_on(timeline, tasks[program.compute_stream(device).index()]);
    const auto comm = busy_on(timeline, tasks[program.communication_stream(device).index()]);
    DeviceTimes times;
    for (const Interval& i : compute) times.compute.value += i.end - i.begin;
    for (const Interval& i : comm) times.communication.value += i.end - i.begin;
    times.overlapped = Nanos(overlap(compute, comm));
    times.communication -= times.overlapped;
    times.idle = timeline.step_time - times.compute - times.communication;
    result.push_back(times);
  }
  return result;
}

GroupTimes group_times(const Timeline& timeline, const Grouping& grouping, GroupId group) {
  GroupTimes result;
  result.first_start = timeline.step_time;
  for (std::size_t t = 0; t < timeline.tasks.size(); ++t) {
    const Task& task = timeline.program->tasks[TaskId(t)];
    if (!task.op.valid() || grouping.group_of(task.op) != group) continue;
    const TaskTimes& times = timeline.tasks[TaskId(t)];
    ++result.tasks;
    result.first_start = std::min(result.first_start, times.start);
    result.last_end = std::max(result.last_end, times.end);
    if (is_communication(task.kind)) {
      result.communication += times.end - times.start;
    } else {
      result.compute += times.end - times.start;
      result.waiting += times.start - times.ready;
    }
  }
  if (result.tasks == 0) result.first_start = Nanos(0);
  return result;
}

std::array<Bytes, kTensorRoles> memory_by_role(const Timeline& timeline, DeviceId device,
                                               Nanos moment) {
  std::array<Bytes, kTensorRoles> bytes{};
  for (const Timeline::Alive& alive : timeline.alive_at(device, moment)) {
    const Tensor& tensor = timeline.program->graph->tensor(alive.tensor);
    bytes[static_cast<std::size_t>(tensor.role)] += alive.bytes;
  }
  return bytes;
}

const char* label_of(TensorRole role) {
  switch (role) {
    case TensorRole::Input:
      return "Input";
    case TensorRole::Parameter:
      return "Parameters";
    case TensorRole::Constant:
      return "Constants";
    case TensorRole::OptimizerState:
      return "Optimizer state";
    case TensorRole::Activation:
      return "Activations";
    case TensorRole::Gradient:
      return "Gradients";
  }
  return "";
}

}  // namespace strato
