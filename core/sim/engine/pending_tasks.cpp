#include "core/sim/engine/pending_tasks.h"

namespace strato {

void PendingTasks::clear(const Program& program, std::size_t tasks) {
  program_ = &program;
  nodes_.resize(tasks);
  rows_.clear();
  duration_ = 0;
  priorities_differ_ = are_issued_ = false;
}

inline void PendingTasks::set(std::size_t place, std::size_t row) {
  const auto resources = program_->resources[row];
  const Task& task = program_->tasks[TaskId(row)];
  const std::int64_t duration = task.duration.value;
  CHECK(duration > 0, "a task takes no time");
  if (__builtin_add_overflow(duration_, duration + task.issue, &duration_))
    duration_ = Nanos::max().value;
  priorities_differ_ |= task.priority != program_->tasks.front().priority;
  are_issued_ |= task.issue > 0;
  nodes_[place] = {
      0, 0, duration, 0, resources.size() == 1 ? resources.front().value() : -1, task.issue};
}

// What waits for a transfer, where processes are not ahead of these.
inline void PendingTasks::issue_when_ready(std::size_t place, const Task& dependency) {
  Node& node = nodes_[place];
  if (node.issue > 0 && dependency.kind == TaskKind::Transfer) node.issue = ~node.issue;
}

// `dependencies`: those of all nodes in their order, as many as each waits for.
void PendingTasks::index_dependents(std::span<const TaskId> dependencies) {
  dependent_begin_.assign(nodes_.size() + 1, 0);
  for (const TaskId place : dependencies) ++dependent_begin_[place.index()];
  std::uint32_t sum = 0;
  for (std::uint32_t& begin : dependent_begin_) begin = sum += begin;  // ends, walked back below
  dependents_.resize(dependencies.size());
  const TaskId* dependency = dependencies.data() + dependencies.size();
  for (std::size_t i = nodes_.size(); i-- > 0;)
    for (std::int32_t n = nodes_[i].waiting; n > 0; --n)
      dependents_[--dependent_begin_[(--dependency)->index()]] = TaskId(i);
}

void PendingTasks::load(const Program& program) {
  clear(program, program.tasks.size());
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    set(i, i);
    nodes_[i].waiting = static_cast<std::int32_t>(program.dependencies[i].size());
    if (!program.issues_after_transfers) continue;
    for (const TaskId dependency : program.dependencies[i])
      issue_when_ready(i, program.tasks[dependency]);
  }
  index_dependents({program.dependencies.data(), program.dependencies.value_count()});
}

void PendingTasks::load_rest(const TaskRows& rows, std::span<const TaskId> rest,
                             std::span<const std::int32_t> places, std::int32_t begin,
                             const IdVector<TaskId, TaskTimes>& times) {
  const Program& program = rows.program();
  clear(program, rest.size());
  rows_.resize(rest.size());
  dependencies_.clear();
  for (std::size_t i = 0; i < rest.size(); ++i) {
    const auto row = static_cast<std::size_t>(rows.row(rest[i].index()));
    rows_[i] = static_cast<std::uint32_t>(row);
    set(i, row);
    Node& node = nodes_[i];
    for (const TaskId dependency : program.dependencies[row]) {
      if (program.issues_after_transfers)
        issue_when_ready(
            i, program.tasks[TaskId(static_cast<std::size_t>(rows.row(dependency.index())))]);
      const std::int32_t place = places[dependency.index()] - begin;
      if (place < 0) {
        node.ready = std::max(node.ready, times[dependency].end.value);
      } else {
        ++node.waiting;
        dependencies_.emplace_back(static_cast<std::size_t>(place));
      }
    }
  }
  index_dependents(dependencies_);
}

}  // namespace strato
