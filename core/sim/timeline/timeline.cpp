#include "core/sim/timeline/timeline.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <tuple>
#include <utility>

namespace strato {

std::vector<Timeline::Alive> Timeline::alive_at(DeviceId device, Nanos moment) const {
  if (is_outline()) device = like[device];
  std::vector<Alive> alive;
  for (const Resident& resident : program->residents)
    if (resident.device == device && !resident.on_host)
      alive.push_back({resident.tensor, resident.bytes, true});
  const auto lives = lifetimes(*this);
  for (std::size_t i = 0; i < lives.size(); ++i) {
    const Buffer& buffer = program->buffers[BufferId(i)];
    const Lifetime& life = lives[BufferId(i)];
    if (buffer.device == device && !buffer.on_host && !buffer.passed_on &&
        tasks[life.taken_by].start <= moment && moment < tasks[life.released_by].end)
      alive.push_back({buffer.tensor, buffer.bytes, false});
  }
  std::stable_sort(alive.begin(), alive.end(), [](const Alive& a, const Alive& b) {
    return std::tuple(b.bytes, !a.resident, a.tensor) < std::tuple(a.bytes, !b.resident, b.tensor);
  });
  return alive;
}

IdVector<BufferId, Lifetime> lifetimes(const Timeline& timeline) {
  const Program& program = *timeline.program;
  IdVector<BufferId, Lifetime> result(program.buffers.size());
  for (std::size_t i = 0; i < program.tasks.size(); ++i) {
    const TaskId task(i);
    for (BufferId buffer : program.writes[i]) result[buffer] = {task, task};
    for (BufferId buffer : program.reads[i]) {
      TaskId& last = result[buffer].released_by;
      const bool first_reader = last == result[buffer].taken_by;
      if (first_reader || timeline.tasks[last].end <= timeline.tasks[task].end) last = task;
    }
  }
  return result;
}

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
