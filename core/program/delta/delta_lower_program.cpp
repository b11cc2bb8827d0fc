// The tasks that delta lowering holds as a program, for people and tests.
#include <algorithm>

#include "core/base/error.h"
#include "core/program/delta/lowered_strategy.h"

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
  CHECK(lowered_->is_valid(), "nothing was lowered");
  const Program& all = store();
  Program program;
  program.graph = all.graph;
  program.cluster = all.cluster;
  IdVector<TaskId, TaskId> tasks(all.tasks.size());  // by handle
  IdVector<BufferId, BufferId> buffers(all.buffers.size());
  list_tasks(ids);
  for (const TaskId task : ids) {
    tasks[task] = program.tasks.next_id();
    push_task(all, row(task), program, buffers);
  }
  for (const TaskId task : ids) {
    push_mapped(all.dependencies[row(task)], tasks, program.dependencies);
    push_mapped(all.reads[row(task)], buffers, program.reads);
  }
  lowered_->list_residents(program);
  return program;
}

}  // namespace strato
