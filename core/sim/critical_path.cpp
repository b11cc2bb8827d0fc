#include <algorithm>
#include <map>

#include "core/base/error.h"
#include "core/sim/simulate.h"

namespace strato {
namespace {

// Tasks of one resource, ascending by end: they never overlap there.
class ResourceHistory {
 public:
  explicit ResourceHistory(const Timeline& timeline) : timeline_(timeline) {
    tasks_.resize(timeline.program->resource_count());
    for (std::size_t i = 0; i < timeline.tasks.size(); ++i)
      for (ResourceId resource : timeline.program->resources[i])
        tasks_[resource.index()].push_back(TaskId(i));
    for (auto& tasks : tasks_)
      std::sort(tasks.begin(), tasks.end(),
                [&](TaskId a, TaskId b) { return timeline.tasks[a].end < timeline.tasks[b].end; });
  }

  // The task that held the resource until `moment`, or an invalid id.
  TaskId ended_at(ResourceId resource, Nanos moment) const {
    const auto& tasks = tasks_[resource.index()];
    const auto at =
        std::lower_bound(tasks.begin(), tasks.end(), moment,
                         [&](TaskId id, Nanos time) { return timeline_.tasks[id].end < time; });
    return at != tasks.end() && timeline_.tasks[*at].end == moment ? *at : TaskId();
  }

 private:
  const Timeline& timeline_;
  std::vector<std::vector<TaskId>> tasks_;
};

// What the task waited for last: a dependency when it started as soon as it was ready, else the
// task that freed the last of its resources. Ties: the smallest id.
std::pair<TaskId, CriticalStep::Why> cause(const Timeline& timeline, const ResourceHistory& history,
                                           TaskId task) {
  const TaskTimes& times = timeline.tasks[task];
  if (times.start == Nanos(0)) return {TaskId(), CriticalStep::Why::Start};
  if (times.start == times.ready)
    for (TaskId dependency : timeline.program->dependencies[task.index()])
      if (timeline.tasks[dependency].end == times.ready)
        return {dependency, CriticalStep::Why::Dependency};
  TaskId held;
  for (ResourceId resource : timeline.program->resources[task.index()])
    if (const TaskId before = history.ended_at(resource, times.start);
        before.valid() && (!held.valid() || before < held))
      held = before;
  CHECK(held.valid(), "a task started late without a reason");
  return {held, CriticalStep::Why::Resource};
}

}  // namespace

std::vector<CriticalStep> critical_path(const Timeline& timeline) {
  std::vector<CriticalStep> path;
  TaskId task;
  for (std::size_t i = 0; i < timeline.tasks.size(); ++i)
    if (!task.valid() || timeline.tasks[TaskId(i)].end > timeline.tasks[task].end) task = TaskId(i);
  const ResourceHistory history(timeline);
  while (task.valid()) {
    const auto [before, why] = cause(timeline, history, task);
    path.push_back({task, why});
    task = before;
  }
  std::reverse(path.begin(), path.end());
  return path;
}

}  // namespace strato
