// What stale variables keep from step to step (VariableSync::staleness).
#include "core/base/error.h"
#include "core/program/exchange/variable_exchange.h"

namespace strato {

// What stood in the place of this gradient when the step began.
Instance VariableExchange::carried(const SyncedPart& part, const Instance& made) const {
  CHECK(part.staleness > 0, "a gradient that is not kept");
  Instance kept;
  kept.device = made.device;
  kept.begin = made.begin;
  kept.end = made.end;
  return kept;
}

// When nothing reads any more what was kept before.
void VariableExchange::keep_gradients(const SyncedPart& first) {
  SyncedPart whole = first;
  whole.ranges.clear();
  for (std::size_t i = 0; i < replicas(whole).size(); ++i) {
    const Instance& made = exchange_.instance(exchange_.first_output(whole.gradient) + i);
    for (const TaskId reader : readers_[made.device]) emitter_.depend(reader);
    keep(whole, made, tables_.tensors[whole.gradient].bytes);
  }
}

void VariableExchange::keep_sum(const SyncedPart& part, const Term& sum, TaskId updated) {
  emitter_.depend(updated);
  keep(part, sum.at, part.bytes);
}

void VariableExchange::keep(const SyncedPart& part, const Instance& made, Bytes bytes) {
  Task task = task_of(TaskKind::Split, part, made.device);
  if (!is_cut(part)) {
    task.first_sample = made.begin;
    task.samples = made.end - made.begin;
  }
  task.bytes = 2 * bytes;
  task.duration = exchange_.move_time(made.device, task.bytes);
  emitter_.read(made);
  emitter_.commit_compute(task);
  exchange_.carry(part.gradient, made.device, bytes);
}

}  // namespace strato
