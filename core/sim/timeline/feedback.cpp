#include "core/sim/timeline/feedback.h"

#include <algorithm>

namespace strato {
namespace {

// What op groups do, from the times of their tasks.
class GroupMeter {
 public:
  explicit GroupMeter(std::size_t groups) : spans_(groups) {}

  void add(const GroupTask& task, const TaskTimes& times) {
    if (task.does == GroupTask::Does::Nothing) return;
    Span& span = spans_[task.group];
    if (task.does == GroupTask::Does::Compute) {
      span.first = std::min(span.first, times.start);
      span.last = std::max(span.last, times.end);
    } else {
      ++span.transfers;
      span.idle += times.start - times.ready;
    }
  }

  IdVector<GroupId, Feedback::Group> groups() {
    IdVector<GroupId, Feedback::Group> groups;
    for (const Span& span : spans_) {
      Feedback::Group group;
      if (span.last > Nanos(0)) group.makespan = span.last - span.first;
      if (span.transfers > 0) group.idle_before_transfer = span.idle / span.transfers;
      groups.push_back(group);
    }
    return groups;
  }

 private:
  struct Span {
    Nanos first = Nanos::max(), last;
    std::int64_t transfers = 0;
    Nanos idle;
  };

  IdVector<GroupId, Span> spans_;
};

double idle_fraction(Nanos busy, Nanos step) { return step.value == 0 ? 1.0 : 1.0 - busy / step; }

Nanos busiest_link(const SimulatedStep& figures, const Cluster& cluster, const DeviceGroup& from,
                   const DeviceGroup& to) {
  Nanos busiest;
  const auto look_at = [&](DeviceId a, DeviceId b) {
    for (LinkId link : cluster.path(a, b).links)
      busiest = std::max(busiest, figures.link_busy[link]);
  };
  const auto other = [](const DeviceGroup& group, DeviceId device) {
    return group.devices.front() != device || group.devices.size() == 1 ? group.devices.front()
                                                                        : group.devices[1];
  };
  // What a device's path begins, or ends, with is the same to all devices of a group.
  for (const DeviceId a : from.devices) look_at(a, other(to, a));
  for (const DeviceId b : to.devices) look_at(other(from, b), b);
  return busiest;
}

Feedback feedback_of(GroupMeter& meter, const SimulatedStep& figures, const Cluster& cluster) {
  Feedback feedback;
  feedback.groups = meter.groups();
  for (const DeviceGroup& group : cluster.groups()) {
    Feedback::DeviceGroupUse use;
    for (DeviceId device : group.devices) {
      use.peak = std::max(use.peak, figures.devices[device].peak);
      use.idle += idle_fraction(figures.devices[device].compute_busy, figures.step_time) /
                  static_cast<double>(group.devices.size());
    }
    feedback.device_groups.push_back(use);
  }
  constexpr std::size_t kMostGroups = 1024;
  if (cluster.groups().size() > kMostGroups) return feedback;
  for (const DeviceGroup& from : cluster.groups())
    for (const DeviceGroup& to : cluster.groups())
      feedback.link_idle.push_back(
          idle_fraction(busiest_link(figures, cluster, from, to), figures.step_time));
  return feedback;
}

}  // namespace

Feedback feedback(const Timeline& timeline, const Grouping& grouping) {
  GroupMeter meter(grouping.size());
  for (std::size_t i = 0; i < timeline.tasks.size(); ++i)
    meter.add(group_task(*timeline.program, i, grouping), timeline.tasks[TaskId(i)]);
  return feedback_of(meter, timeline, *timeline.program->cluster);
}

Feedback feedback(std::span<const GroupTask> tasks, const IdVector<TaskId, TaskTimes>& times,
                  const SimulatedStep& figures, const Cluster& cluster, const Grouping& grouping) {
  GroupMeter meter(grouping.size());
  for (std::size_t i = 0; i < tasks.size(); ++i) meter.add(tasks[i], times[TaskId(i)]);
  return feedback_of(meter, figures, cluster);
}

}  // namespace strato
