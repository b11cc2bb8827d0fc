#include "core/program/copies/passed_on.h"

#include <algorithm>

namespace strato {
namespace {

bool is_kernel(const Task& task) {
  return task.kind == TaskKind::Compute || task.kind == TaskKind::Update;
}

}  // namespace

void mark_passed_on(Program& program, const Tables& tables) {
  if (std::ranges::none_of(tables.tensors, [](const TensorFacts& facts) {
        return facts.passed_on || facts.adds_up;
      }))
    return;
  for (Buffer& buffer : program.buffers) {
    const TensorFacts& facts = tables.tensors[buffer.tensor];
    buffer.passed_on = facts.passed_on || facts.adds_up;
  }
  for (std::size_t i = 0; i < program.tasks.size(); ++i) {
    const Task& task = program.tasks[TaskId(i)];
    const bool kernel = is_kernel(task);
    if (!kernel)
      for (const BufferId made : program.writes[i]) program.buffers[made].passed_on = false;
    const bool adds_up = task.kind == TaskKind::Sum && program.writes[i].empty() &&
                         tables.tensors[task.tensor].adds_up;
    const auto read = program.reads[i];
    for (std::size_t place = 0; place < read.size(); ++place) {
      Buffer& buffer = program.buffers[read[place]];
      const bool stays = kernel ? tables.tensors[buffer.tensor].passed_on : adds_up && place == 1;
      if (!stays) buffer.passed_on = false;
    }
  }
}

}  // namespace strato
