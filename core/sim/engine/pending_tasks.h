// The tasks that a run is to schedule, and the one event loop of the simulator. Private to this
// folder.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/error.h"
#include "core/sim/memory/task_schedule.h"

namespace strato {

// All tasks of a program, or those after a checkpoint, with the number of dependencies that they
// wait for and those that wait for them. A task's place is where it comes among them in emission
// order: among equals the smaller place is first. Reuses its arrays.
class PendingTasks {
 public:
  struct Node {
    std::int64_t ready;  // nanoseconds: the end of its dependencies so far
    std::int64_t start;
    std::int64_t duration;
    std::int32_t waiting;  // dependencies that have not ended
    std::int32_t stream;   // the only resource that it needs; -1: it needs several
    std::int32_t issue;    // Task::issue; ~issue: once the task is ready, not ahead

    // When a process has started the task that was ready, before, to start others.
    std::int64_t issued_by(std::int64_t process) const {
      return issue >= 0 ? process + issue : std::max(process, ready) + ~issue;
    }
  };

  // All tasks: a task's place is its id.
  void load(const Program& program);
  // The tasks `rest`, in emission order. `places`: by handle, from `begin` on of those in `rest`,
  // before it of tasks that were taken, whose `times` hold.
  void load_rest(const TaskRows& rows, std::span<const TaskId> rest,
                 std::span<const std::int32_t> places, std::int32_t begin,
                 const IdVector<TaskId, TaskTimes>& times);

  std::size_t size() const { return nodes_.size(); }
  Node& operator[](std::size_t place) { return nodes_[place]; }
  const Node& operator[](std::size_t place) const { return nodes_[place]; }
  std::span<const ResourceId> resources(std::size_t place) const {
    return program_->resources[rows_.empty() ? place : rows_[place]];
  }
  std::span<const TaskId> dependents(std::size_t place) const {  // places, ascending
    return {dependents_.data() + dependent_begin_[place],
            dependents_.data() + dependent_begin_[place + 1]};
  }
  bool is_stream(ResourceId resource) const { return !program_->is_link(resource); }
  void prefetch_dependents(std::size_t place) const {
    __builtin_prefetch(&dependent_begin_[place]);
  }
  // The sum, with what processes need to start them, or the largest number there is.
  std::int64_t duration() const { return duration_; }
  bool priorities_differ() const { return priorities_differ_; }
  bool are_issued() const { return are_issued_; }  // by processes that need time for it

 private:
  void clear(const Program& program, std::size_t tasks);
  void set(std::size_t place, std::size_t row);
  void issue_when_ready(std::size_t place, const Task& dependency);
  void index_dependents(std::span<const TaskId> dependencies);

  const Program* program_ = nullptr;
  std::vector<Node> nodes_;
  std::vector<std::uint32_t> rows_;  // of the nodes in the program; empty: their places
  std::vector<std::uint32_t> dependent_begin_;
  std::vector<TaskId> dependents_, dependencies_;  // places
  std::int64_t duration_ = 0;
  bool priorities_differ_ = false, are_issued_ = false;
};

struct Ended {
  std::int32_t place = -1;  // negative: none
  std::int64_t end = 0;     // nanoseconds
};

// A discipline says how tasks share resources:
//
//   void ready(std::size_t place)   all dependencies of the task have ended, the last one at its
//                                   node's `ready`
//   Ended next()                    the next task whose end is known; none: nothing is left to end
//
// FifoDiscipline knows a task's end when it is its turn (list scheduling), QueueDiscipline when the
// moment has come (queues, priorities, links shared fairly). Inlined, so that a discipline of the
// caller's lives in registers.
template <class Discipline>
[[gnu::always_inline]] inline void run_events(PendingTasks& tasks, Discipline& discipline) {
  for (std::size_t i = 0; i < tasks.size(); ++i)
    if (tasks[i].waiting == 0) discipline.ready(i);
  std::size_t count = 0;
  for (Ended ended = discipline.next(); ended.place >= 0; ended = discipline.next()) {
    ++count;
    for (const TaskId dependent : tasks.dependents(static_cast<std::size_t>(ended.place))) {
      PendingTasks::Node& other = tasks[dependent.index()];
      other.ready = std::max(other.ready, ended.end);
      if (--other.waiting > 0) continue;
      tasks.prefetch_dependents(dependent.index());
      discipline.ready(dependent.index());
    }
  }
  CHECK(count == tasks.size(), "a task never started");
}

}  // namespace strato
