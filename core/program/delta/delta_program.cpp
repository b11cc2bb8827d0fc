// What delta lowering holds as a program, for people and tests.
#include <algorithm>

#include "core/base/error.h"
#include "core/program/delta/delta_state.h"

namespace strato {
namespace {

template <class Id>
void push_mapped(std::span<const Id> row, const IdVector<Id, Id>& to, Rows<Id>& rows) {
  std::vector<Id> mapped;
  for (const Id id : row) mapped.push_back(to[id]);
  std::sort(mapped.begin(), mapped.end());
  rows.push_row(mapped);
}

// A task's place and what it makes; `buffers`: by handle.
void push_task(const Program& store, std::size_t row, Program& program,
               IdVector<BufferId, BufferId>& buffers) {
  program.tasks.push_back(store.tasks[TaskId(row)]);
  program.resources.push_row(store.resources[row]);
  for (BufferId buffer : store.writes[row]) {
    buffers[buffer] = program.buffers.next_id();
    program.buffers.push_back(store.buffers[buffer]);
    program.writes.push(buffers[buffer]);
  }
  program.writes.end_row();
}

}  // namespace

Program DeltaLowering::program(std::vector<TaskId>& ids) const {
  State& state = *state_;
  CHECK(state.valid, "nothing was lowered");
  Program program;
  program.graph = state.store.graph;
  program.cluster = state.store.cluster;
  program.parts = state.store.parts;
  IdVector<TaskId, TaskId> tasks(state.store.tasks.size());  // by handle
  IdVector<BufferId, BufferId> buffers(state.store.buffers.size());
  list_tasks(ids);
  for (const TaskId task : ids) {
    tasks[task] = program.tasks.next_id();
    push_task(state.store, row(task), program, buffers);
  }
  for (const TaskId task : ids) {
    push_mapped(state.store.dependencies[row(task)], tasks, program.dependencies);
    push_mapped(state.store.reads[row(task)], buffers, program.reads);
  }
  for (std::size_t d = 0; d < program.cluster->device_count(); ++d)
    for (TensorId tensor : state.tables().slots)
      if (const Bytes bytes = state.lower.exchange.resident_bytes(tensor, DeviceId(d));
          bytes > Bytes(0))
        program.residents.push_back({tensor, DeviceId(d), bytes});
  return program;
}

}  // namespace strato
