#include "core/sim/explain/causes.h"

#include <algorithm>
#include <numeric>

#include "core/base/error.h"

namespace strato {
namespace {

std::vector<TaskId> by_end(const Timeline& timeline) {
  std::vector<TaskId> order;
  order.reserve(timeline.tasks.size());
  for (std::size_t i = 0; i < timeline.tasks.size(); ++i) order.push_back(TaskId(i));
  std::stable_sort(order.begin(), order.end(), [&](TaskId a, TaskId b) {
    return timeline.tasks[a].end < timeline.tasks[b].end;
  });
  return order;
}

}  // namespace

Causes::Causes(const Timeline& timeline)
    : timeline_(timeline), begin_(timeline.program->resource_count() + 1) {
  const auto& resources = timeline.program->resources;
  for (std::size_t i = 0; i < timeline.tasks.size(); ++i)
    for (ResourceId resource : resources[i]) ++begin_[resource.index() + 1];
  std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
  tasks_.resize(begin_.back());
  std::vector<std::uint32_t> at(begin_.begin(), begin_.end() - 1);
  for (TaskId task : by_end(timeline))
    for (ResourceId resource : resources[task.index()]) tasks_[at[resource.index()]++] = task;
}

// Fairly shared links are held by nobody: only streams make tasks wait.
bool Causes::is_exclusive(ResourceId resource) const {
  return !timeline_.options.fair_links ||
         resource.index() < 2 * timeline_.program->cluster->device_count();
}

// The task that held the resource until `moment`, or an invalid id.
TaskId Causes::ended_at(ResourceId resource, Nanos moment) const {
  const auto first = tasks_.begin() + begin_[resource.index()];
  const auto last = tasks_.begin() + begin_[resource.index() + 1];
  const auto at = std::lower_bound(
      first, last, moment, [&](TaskId id, Nanos time) { return timeline_.tasks[id].end < time; });
  return at != last && timeline_.tasks[*at].end == moment ? *at : TaskId();
}

// A dependency when the task started as soon as it was ready, else the task that freed the last of
// its resources. Ties: the smallest id.
ChainStep Causes::of(TaskId task) const {
  const TaskTimes& times = timeline_.tasks[task];
  if (times.start == Nanos(0)) return {task, CriticalStep::Why::Start, {}, {}};
  if (times.start == times.ready)
    for (TaskId dependency : timeline_.program->dependencies[task.index()])
      if (timeline_.tasks[dependency].end == times.ready)
        return {task, CriticalStep::Why::Dependency, dependency, {}};
  ChainStep step{task, CriticalStep::Why::Resource, {}, {}};
  for (ResourceId resource : timeline_.program->resources[task.index()])
    if (const TaskId before = is_exclusive(resource) ? ended_at(resource, times.start) : TaskId();
        before.valid() && (!step.before.valid() || before < step.before)) {
      step.before = before;
      step.held = resource;
    }
  CHECK(step.before.valid(), "a task started late without a reason");
  return step;
}

std::vector<ChainStep> Causes::chain_to(TaskId task, Nanos since) const {
  std::vector<ChainStep> chain;
  while (task.valid()) {
    chain.push_back(of(task));
    if (timeline_.tasks[task].start <= since) break;
    task = chain.back().before;
  }
  std::reverse(chain.begin(), chain.end());
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
    const auto last = tasks_.begin() + begin_[resource.index() + 1];
    auto at =
        std::upper_bound(tasks_.begin() + begin_[resource.index()], last, mine.start,
                         [&](Nanos time, TaskId id) { return time < timeline_.tasks[id].end; });
    for (const auto stop = last - at > neighbours ? at + neighbours : last; at != stop; ++at) {
      const TaskTimes& other = timeline_.tasks[*at];
      const Nanos together = std::min(mine.end, other.end) - std::max(mine.start, other.start);
      if (together <= longest || !holds_up(*at)) continue;
      longest = together;
      best = *at;
    }
  }
  return best;
}

TaskId last_task(const Timeline& timeline) {
  TaskId last;
  for (std::size_t i = 0; i < timeline.tasks.size(); ++i)
    if (!last.valid() || timeline.tasks[TaskId(i)].end > timeline.tasks[last].end) last = TaskId(i);
  return last;
}

}  // namespace strato
