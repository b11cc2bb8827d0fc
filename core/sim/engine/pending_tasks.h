// The tasks that a run is to schedule: all of a program, or those after a checkpoint, with the
// number of dependencies that they wait for and those that wait for them. A task's place is where
// it comes among them in emission order: among equals the smaller place is first. Reuses its
// arrays. Private to this folder.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/sim/memory/task_rows.h"
#include "core/sim/memory/task_schedule.h"

namespace strato {

class PendingTasks {
 public:
  struct Node {
    std::int64_t ready;  // nanoseconds: the end of its dependencies so far
    std::int64_t start;
    std::int64_t duration;
    std::int32_t waiting;  // dependencies that have not ended
    std::int32_t stream;   // the only resource that it needs; -1: it needs several
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
  void prefetch_dependents(std::size_t place) const {
    __builtin_prefetch(&dependent_begin_[place]);
  }
  std::int64_t duration() const { return duration_; }  // the sum, or the largest number there is
  bool priorities_differ() const { return priorities_differ_; }

 private:
  void clear(const Program& program, std::size_t tasks);
  void set(std::size_t place, std::size_t row);
  void index_dependents(std::span<const TaskId> dependencies);

  const Program* program_ = nullptr;
  std::vector<Node> nodes_;
  std::vector<std::uint32_t> rows_;  // of the nodes in the program; empty: their places
  std::vector<std::uint32_t> dependent_begin_;
  std::vector<TaskId> dependents_, dependencies_;  // places
  std::int64_t duration_ = 0;
  bool priorities_differ_ = false;
};

}  // namespace strato
