#include "core/program/variable/variable_exchange.h"

#include <algorithm>

namespace strato {

void VariableExchange::lower(OpId update) {
  const VariableSync& variable = *placement_.variables().find(update);
  const TaskId since = emitter_.next_task();
  for (std::size_t i = 0; i < variable.parts.size(); ++i) {
    const SyncedPart part = sync_.part_of(variable, i);
    part.sync->synchroniser == Synchroniser::Ps ? server_.serve(part) : reduction_.reduce(part);
  }
  if (variable.staleness > 0) keep_gradients(sync_.part_of(variable, 0), since);
}

// When nothing reads any more what was kept before: the Splits and Transfers of the gradient since
// that task which read no buffer.
void VariableExchange::keep_gradients(const SyncedPart& first, TaskId since) {
  SyncedPart whole = first;
  whole.ranges.clear();
  const TaskId end = emitter_.next_task();
  const Program& program = emitter_.program();
  const Bytes bytes = std::max(Bytes(1), program.graph->tensor(whole.gradient).bytes());
  for (std::size_t i = 0; i < sync_.replicas(whole).size(); ++i) {
    const Instance made = copies_.of_shard(whole.gradient, i);
    for (std::size_t t = since.index(); t < end.index(); ++t) {
      const Task& task = program.tasks[TaskId(t)];
      const bool takes = task.kind == TaskKind::Split || task.kind == TaskKind::Transfer;
      if (takes && task.tensor == whole.gradient && task.device == made.device &&
          program.reads[t].empty())
        emitter_.depend(TaskId(t));
    }
    sync_.keep(whole, made, bytes);
  }
}

}  // namespace strato
