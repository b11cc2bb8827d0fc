#include "core/sim/explain/critical_path.h"

#include <algorithm>

#include "core/base/error.h"

namespace strato {

Causes::Causes(const Timeline& timeline)
    : timeline_(timeline), tasks_(timeline.program->resource_count()) {
  const auto end_of = [&](TaskId task) { return timeline.tasks[task].end; };
  for (std::size_t i = 0; i < timeline.tasks.size(); ++i)
    for (ResourceId resource : timeline.program->resources[i]) tasks_[resource].emplace_back(i);
  for (auto& tasks : tasks_) std::ranges::stable_sort(tasks, {}, end_of);
}

// Fairly shared links are held by nobody: only streams make tasks wait.
bool Causes::is_exclusive(ResourceId resource) const {
  return !timeline_.options.fair_links || !timeline_.program->is_link(resource);
}

// The task that held the resource until `moment`, or an invalid id.
TaskId Causes::ended_at(ResourceId resource, Nanos moment) const {
  const auto end_of = [&](TaskId task) { return timeline_.tasks[task].end; };
  const auto found = std::ranges::lower_bound(tasks_[resource], moment, {}, end_of);
  return found != tasks_[resource].end() && end_of(*found) == moment ? *found : TaskId();
}

// A dependency when the task started as soon as it was ready, else the task that freed the last of
// its resources. Ties: the smallest id.
CriticalStep Causes::of(TaskId task) const {
  const TaskTimes& times = timeline_.tasks[task];
  if (times.start == Nanos(0)) return {task, CriticalStep::Why::Start};
  if (times.start == times.ready)
    for (TaskId dependency : timeline_.program->dependencies[task.index()])
      if (timeline_.tasks[dependency].end == times.ready)
        return {task, CriticalStep::Why::Dependency, dependency};
  CriticalStep step{task, CriticalStep::Why::Resource};
  for (ResourceId resource : timeline_.program->resources[task.index()])
    if (const TaskId before = is_exclusive(resource) ? ended_at(resource, times.start) : TaskId();
        before.valid() && (!step.before.valid() || before < step.before)) {
      step.before = before;
      step.held = resource;
    }
  CHECK(step.before.valid(), "a task started late without a reason");
  return step;
}

std::vector<CriticalStep> Causes::chain_to(TaskId task, Nanos since) const {
  std::vector<CriticalStep> chain;
  while (task.valid()) {
    chain.push_back(of(task));
    if (timeline_.tasks[task].start <= since) break;
    task = chain.back().before;
  }
  std::ranges::reverse(chain);
  return chain;
}

TaskId Causes::sharer(TaskId task) const {
  constexpr std::ptrdiff_t neighbours = 64;  // on each link
  const TaskTimes& mine = timeline_.tasks[task];
  const Task& own = timeline_.program->tasks[task];
  // A task that came later, or waits behind it on the same connection, did not hold it up.
  const auto holds_up = [&](TaskId id) {
    const Task& what = timeline_.program->tasks[id];
    const bool behind = own.kind == TaskKind::Transfer && what.kind == own.kind &&
                        what.device == own.device && what.target == own.target &&
                        timeline_.tasks[id].end > mine.end;
    return id != task && !behind && timeline_.tasks[id].start <= mine.start + own.duration;
  };
  TaskId best = task;
  Nanos longest;
  for (ResourceId resource : timeline_.program->resources[task.index()]) {
    if (is_exclusive(resource)) continue;
    const std::vector<TaskId>& users = tasks_[resource];
    auto next = std::ranges::upper_bound(users, mine.start, {},
                                         [&](TaskId id) { return timeline_.tasks[id].end; });
    for (const auto stop = next + std::min(users.end() - next, neighbours); next != stop; ++next) {
      const TaskTimes& other = timeline_.tasks[*next];
      const Nanos together = std::min(mine.end, other.end) - std::max(mine.start, other.start);
      if (together <= longest || !holds_up(*next)) continue;
      longest = together;
      best = *next;
    }
  }
  return best;
}

TaskId last_task(const Timeline& timeline) {
  const auto last = std::ranges::max_element(timeline.tasks, {}, &TaskTimes::end);
  if (last == timeline.tasks.end()) return {};
  return TaskId(static_cast<std::size_t>(last - timeline.tasks.begin()));
}

std::vector<CriticalStep> critical_path(const Timeline& timeline) {
  return Causes(timeline).chain_to(last_task(timeline));
}

}  // namespace strato
