#include "core/launch/measured/measured.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <map>
#include <utility>

#include "core/base/error.h"
#include "core/program/value/collective.h"
#include "core/sim/timeline/spans.h"

namespace strato {
namespace {

void place_tasks(Timeline& timeline, const JobResult& result) {
  std::vector<bool> seen(timeline.tasks.size(), false);
  for (TaskTimes& times : timeline.tasks) times = {};
  for (const MeasuredTask& task : result.tasks) {
    if (!task.task.valid() || task.task.index() >= timeline.tasks.size()) {
      throw InputError("", "", "the result has a task that the plan does not have",
                       "compare a result with the plan that it was launched from");
    }
    TaskTimes& times = timeline.tasks[task.task];
    const bool first = !seen[task.task.index()];
    seen[task.task.index()] = true;
    times.start = first ? task.start : std::max(times.start, task.start);
    times.end = first ? task.end : std::max(times.end, task.end);
  }
  timeline.step_time = Nanos(0);
  for (TaskTimes& times : timeline.tasks) {
    times.ready = times.start = std::min(times.start, times.end);
    timeline.step_time = std::max(timeline.step_time, times.end);
  }
}

void sum_up(Timeline& timeline) {
  const Program& program = *timeline.program;
  for (DeviceUse& use : timeline.devices) use.compute_busy = Nanos(0);
  IdVector<DeviceId, std::vector<Span>> communicating(timeline.devices.size());
  for (Nanos& busy : timeline.link_busy) busy = Nanos(0);
  for (std::size_t i = 0; i < timeline.tasks.size(); ++i) {
    const TaskTimes& times = timeline.tasks[TaskId(i)];
    const Nanos took = times.end - times.start;
    for (const ResourceId resource : program.resources[i]) {
      if (program.is_link(resource)) {
        timeline.link_busy[program.link_of(resource)] += took;
        continue;
      }
      const DeviceId device = Program::device_of(resource);
      if (Program::kind_of(resource) == Stream::Compute)
        timeline.devices[device].compute_busy += took;
      else
        communicating[device].push_back({times.start, times.end});
    }
  }
  for (std::size_t d = 0; d < communicating.size(); ++d)
    timeline.devices[DeviceId(d)].communication_busy =
        length(united(std::move(communicating[DeviceId(d)])));
}

std::string communication_name(const Program& program, TaskId id) {
  const Task& task = program.tasks[id];
  const Cluster& cluster = *program.cluster;
  if (task.kind == TaskKind::Transfer)
    return cluster.device(task.device).name + " -> " + cluster.device(task.target).name;
  if (is_host_copy(task.kind))
    return fmt::format("{} of {}", name_of(task.kind), cluster.device(task.device).name);
  return fmt::format("{} of {} devices", name_of(task.kind), members_of(program, id).size());
}

std::vector<Difference> sorted(const std::map<std::string, Difference>& by_name) {
  std::vector<Difference> list;
  for (const auto& [name, difference] : by_name) list.push_back(difference);
  std::ranges::stable_sort(list, std::greater<>(),
                           [](const Difference& each) { return std::abs(each.effect().value); });
  return list;
}

}  // namespace

Timeline measured_timeline(const Timeline& predicted, const JobResult& result,
                           const std::vector<DeviceId>& devices) {
  Timeline timeline = predicted;
  place_tasks(timeline, result);
  sum_up(timeline);
  timeline.feasible = true;
  for (std::size_t rank = 0; rank < devices.size() && rank < result.peaks.size(); ++rank)
    timeline.devices[devices[rank]].peak = result.peaks[rank];
  return timeline;
}

Comparison compare_timelines(const Timeline& predicted, const Timeline& measured, Nanos step_time) {
  CHECK(predicted.program == measured.program, "timelines of different programs are compared");
  const Program& program = *predicted.program;
  Comparison comparison{predicted.step_time, step_time, {}, {}, {}};
  std::map<std::string, Difference> ops, links;
  IdVector<DeviceId, Difference> devices(program.cluster->device_count());
  const auto add = [&](Difference& sum, TaskId task) {
    ++sum.tasks;
    sum.predicted += predicted.tasks[task].end - predicted.tasks[task].start;
    sum.measured += measured.tasks[task].end - measured.tasks[task].start;
  };
  for (std::size_t i = 0; i < program.tasks.size(); ++i) {
    const Task& task = program.tasks[TaskId(i)];
    const bool moves = is_communication(task.kind);
    const std::string name =
        moves ? communication_name(program, TaskId(i)) : program.graph->op(task.op).name;
    Difference& sum = (moves ? links : ops)[name];
    sum.name = name;
    add(sum, TaskId(i));
    if (!moves) add(devices[task.device], TaskId(i));
  }
  for (std::size_t i = 0; i < devices.size(); ++i) {
    devices[DeviceId(i)].name = program.cluster->device(DeviceId(i)).name;
    if (devices[DeviceId(i)].tasks > 0) comparison.devices.push_back(devices[DeviceId(i)]);
  }
  comparison.ops = sorted(ops);
  comparison.links = sorted(links);
  return comparison;
}

}  // namespace strato
