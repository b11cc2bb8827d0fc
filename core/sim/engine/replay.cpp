#include "core/sim/engine/replay.h"

#include <algorithm>

namespace strato {

void Replay::start(const DeltaLowering& lowering) {
  rows_.clear();
  places_.clear();
  group_tasks_.clear();
  engine_.run(lowering.store(), {}, schedule_);
}

void Replay::set_task(const DeltaLowering& lowering, TaskId task) {
  const std::size_t row = lowering.row(task);
  rows_[task.index()] = static_cast<std::int32_t>(row);
  group_tasks_[task.index()] = group_task(lowering.store(), row, *lowering.grouping());
}

// The schedule is one of a whole program until here: handles are rows.
void Replay::index(const DeltaLowering& lowering) {
  const std::size_t tasks = schedule_.order.size();
  rows_.resize(tasks);
  places_.resize(tasks);
  group_tasks_.resize(tasks);
  for (std::size_t i = 0; i < tasks; ++i) {
    rows_[i] = static_cast<std::int32_t>(i);
    places_[static_cast<std::size_t>(schedule_.order[i].task)] = static_cast<std::int32_t>(i);
    group_tasks_[i] = group_task(lowering.store(), i, *lowering.grouping());
  }
}

// When the task's dependencies ended, as far as that is known.
Nanos Replay::ready_of(const Program& store, TaskId task) const {
  Nanos ready;
  const auto row = static_cast<std::size_t>(rows_[task.index()]);
  for (const TaskId dependency : store.dependencies[row])
    ready = std::max(ready, schedule_.times[dependency].end);
  return ready;
}

Nanos Replay::first_change(const Program& store, const DeltaLowering::Change& change) {
  Nanos first = Nanos::max();
  for (const TaskId task : change.removed) first = std::min(first, schedule_.times[task].ready);
  for (const TaskId task : change.added) {
    TaskTimes& times = schedule_.times[task];
    times.ready = ready_of(store, task);
    const TaskId row(static_cast<std::size_t>(rows_[task.index()]));
    times.end = times.ready + store.tasks[row].duration;
    first = std::min(first, times.ready);
  }
  for (const TaskId task : change.changed)
    first = std::min({first, schedule_.times[task].ready, ready_of(store, task)});
  return first;
}

// In tasks: before all that were ready at `before` or later.
std::size_t Replay::last_checkpoint(Nanos before) const {
  const auto& order = schedule_.order;
  const auto at = std::partition_point(order.begin(), order.end(), [&](const auto& taken) {
    return schedule_.times[TaskId(static_cast<std::size_t>(taken.task))].ready < before;
  });
  return static_cast<std::size_t>(at - order.begin()) / TaskSchedule::kStride *
         TaskSchedule::kStride;
}

void Replay::collect_rest(const DeltaLowering& lowering, std::size_t taken) {
  lowering.list_tasks(rest_);
  std::size_t count = 0;
  for (const TaskId task : rest_) {
    std::int32_t& place = places_[task.index()];
    if (place >= 0 && static_cast<std::size_t>(place) < taken) continue;
    place = static_cast<std::int32_t>(taken + count);
    rest_[count++] = task;
  }
  rest_.resize(count);
}

void Replay::follow(const DeltaLowering& lowering, const DeltaLowering::Change& change) {
  if (rows_.empty()) index(lowering);
  const Program& store = lowering.store();
  const std::size_t handles = store.tasks.size();
  rows_.resize(handles, -1);
  places_.resize(handles, -1);
  group_tasks_.resize(handles);
  schedule_.times.resize(handles);
  for (const TaskId task : change.removed) {
    rows_[task.index()] = -1;
    group_tasks_[task.index()] = {};
  }
  for (const TaskId task : change.changed) set_task(lowering, task);
  for (const TaskId task : change.added) set_task(lowering, task);
  const Nanos first = first_change(store, change);
  if (first == Nanos::max()) return;
  const std::size_t taken = last_checkpoint(first);
  collect_rest(lowering, taken);
  engine_.replay(rows(lowering), rest_, places_, taken, schedule_);
  for (std::size_t i = taken; i < schedule_.order.size(); ++i)
    places_[static_cast<std::size_t>(schedule_.order[i].task)] = static_cast<std::int32_t>(i);
}

Feedback Replay::feedback(const DeltaLowering& lowering, const SimulatedStep& figures) const {
  const Program& store = lowering.store();
  const Grouping& grouping = *lowering.grouping();
  if (!rows_.empty())
    return strato::feedback(group_tasks_, schedule_.times, figures, *store.cluster, grouping);
  std::vector<GroupTask> tasks;
  for (std::size_t i = 0; i < store.tasks.size(); ++i)
    tasks.push_back(group_task(store, i, grouping));
  return strato::feedback(tasks, schedule_.times, figures, *store.cluster, grouping);
}

}  // namespace strato
