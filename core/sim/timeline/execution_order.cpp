#include "core/sim/timeline/execution_order.h"

#include <functional>
#include <queue>
#include <utility>

namespace strato {

std::vector<TaskId> execution_order(const Timeline& timeline) {
  const Program& program = *timeline.program;
  const std::size_t count = program.tasks.size();
  IdVector<TaskId, std::size_t> missing(count);  // dependencies that are not in the order yet
  std::vector<std::vector<TaskId>> successors(count);
  using Entry = std::pair<Nanos, TaskId>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> next;
  const auto put = [&](TaskId task) { next.push({timeline.tasks[task].start, task}); };
  for (std::size_t i = 0; i < count; ++i) {
    const auto dependencies = program.dependencies[i];
    missing[TaskId(i)] = dependencies.size();
    for (const TaskId dependency : dependencies)
      successors[dependency.index()].push_back(TaskId(i));
    if (dependencies.empty()) put(TaskId(i));
  }
  std::vector<TaskId> order;
  order.reserve(count);
  while (!next.empty()) {
    const TaskId task = next.top().second;
    next.pop();
    order.push_back(task);
    for (const TaskId successor : successors[task.index()])
      if (--missing[successor] == 0) put(successor);
  }
  return order;
}

}  // namespace strato
