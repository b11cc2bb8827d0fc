#include "core/sim/timeline/feedback.h"

#include <algorithm>

#include "core/sim/timeline/timeline.h"

namespace strato {
namespace {

void measure_groups(const Timeline& timeline, const Grouping& grouping, Feedback& feedback) {
  struct Span {
    Nanos first = Nanos::max(), last;
    std::int64_t transfers = 0;
    Nanos idle;
  };
  IdVector<GroupId, Span> spans(grouping.size());
  const Program& program = *timeline.program;
  for (std::size_t i = 0; i < program.tasks.size(); ++i) {
    const Task& task = program.tasks[TaskId(i)];
    const TaskTimes& times = timeline.tasks[TaskId(i)];
    if (!task.op.valid()) continue;
    Span& span = spans[grouping.group_of(task.op)];
    if (task.kind == TaskKind::Compute || task.kind == TaskKind::Update) {
      span.first = std::min(span.first, times.start);
      span.last = std::max(span.last, times.end);
    } else if (is_communication(task.kind) && !program.dependencies[i].empty()) {
      ++span.transfers;
      span.idle += times.start - times.ready;
    }
  }
  for (const Span& span : spans) {
    Feedback::Group group;
    if (span.last > Nanos(0)) group.makespan = span.last - span.first;
    if (span.transfers > 0) group.idle_before_transfer = span.idle / span.transfers;
    feedback.groups.push_back(group);
  }
}

double idle_fraction(Nanos busy, Nanos step) { return step.value == 0 ? 1.0 : 1.0 - busy / step; }

Nanos busiest_link(const Timeline& timeline, const DeviceGroup& from, const DeviceGroup& to) {
  Nanos busiest;
  for (DeviceId a : from.devices)
    for (DeviceId b : to.devices) {
      if (a == b) continue;
      for (LinkId link : timeline.program->cluster->path(a, b).links)
        busiest = std::max(busiest, timeline.link_busy[link]);
    }
  return busiest;
}

}  // namespace

Feedback feedback(const Timeline& timeline, const Grouping& grouping) {
  Feedback feedback;
  measure_groups(timeline, grouping, feedback);
  const auto& groups = timeline.program->cluster->groups();
  for (const DeviceGroup& group : groups) {
    Feedback::DeviceGroupUse use;
    for (DeviceId device : group.devices) {
      use.peak = std::max(use.peak, timeline.devices[device].peak);
      use.idle += idle_fraction(timeline.devices[device].compute_busy, timeline.step_time) /
                  static_cast<double>(group.devices.size());
    }
    feedback.device_groups.push_back(use);
  }
  for (const DeviceGroup& from : groups)
    for (const DeviceGroup& to : groups)
      feedback.link_idle.push_back(
          idle_fraction(busiest_link(timeline, from, to), timeline.step_time));
  return feedback;
}

}  // namespace strato
