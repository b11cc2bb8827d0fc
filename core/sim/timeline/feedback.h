// Feedback of a timeline about op groups and device groups (TAG Table 1).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/graph/group/grouping.h"
#include "core/sim/timeline/timeline.h"

namespace strato {

struct Feedback {
  struct Group {
    Nanos makespan;              // last end minus first start of its compute tasks
    Nanos idle_before_transfer;  // mean wait between a task's end and its output's transfer start
  };
  struct DeviceGroupUse {
    Bytes peak;       // of its fullest device
    double idle = 0;  // mean idle fraction of its compute streams
  };
  IdVector<GroupId, Group> groups;
  IdVector<DeviceGroupId, DeviceGroupUse> device_groups;
  // Device groups x device groups: idle part of the busiest link between; empty for > 1,024 groups.
  std::vector<double> link_idle;
};
Feedback feedback(const Timeline& timeline, const Grouping& grouping);

// What a task does for the op group that its op belongs to.
struct GroupTask {
  GroupId group;  // invalid: nothing
  enum class Does : std::uint8_t { Compute, Send, Nothing } does = Does::Nothing;
};
inline GroupTask group_task(const Program& program, std::size_t row, const Grouping& grouping) {
  const Task& task = program.tasks[TaskId(row)];
  if (!task.op.valid()) return {};
  const bool sends = is_communication(task.kind);
  const bool computes = task.kind == TaskKind::Compute || task.kind == TaskKind::Update;
  if (!computes && (!sends || program.dependencies[row].empty())) return {};
  return {grouping.group_of(task.op), sends ? GroupTask::Does::Send : GroupTask::Does::Compute};
}

// The same of tasks that are known without a program; those that do nothing are left out.
Feedback feedback(std::span<const GroupTask> tasks, const IdVector<TaskId, TaskTimes>& times,
                  const SimulatedStep& figures, const Cluster& cluster, const Grouping& grouping);

}  // namespace strato
