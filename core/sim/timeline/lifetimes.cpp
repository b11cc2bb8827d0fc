#include "core/sim/timeline/lifetimes.h"

namespace strato {

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

}  // namespace strato
