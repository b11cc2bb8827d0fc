// The dependencies of a program turned around: who waits for a task. Reuses its arrays. Private to
// this folder.
#pragma once

#include <span>
#include <vector>

#include "core/program/value/program.h"

namespace strato {

class Dependents {
 public:
  void index(const Program& program) {
    const std::size_t tasks = program.tasks.size();
    begin_.assign(tasks + 1, 0);
    tasks_.resize(program.dependencies.value_count());
    if (tasks == 0) return;
    for (const TaskId id : std::span(program.dependencies[0].data(), tasks_.size()))
      ++begin_[id.index()];
    std::uint32_t sum = 0;
    for (std::uint32_t& begin : begin_) begin = sum += begin;  // ends, walked back below
    for (std::size_t i = tasks; i-- > 0;)
      for (const TaskId id : program.dependencies[i]) tasks_[--begin_[id.index()]] = TaskId(i);
  }
  std::span<const TaskId> operator[](TaskId task) const {
    return {tasks_.data() + begin_[task.index()], tasks_.data() + begin_[task.index() + 1]};
  }

  void prefetch(TaskId task) const { __builtin_prefetch(&begin_[task.index()]); }

 private:
  std::vector<std::uint32_t> begin_;  // one per task and one more
  std::vector<TaskId> tasks_;
};

}  // namespace strato
