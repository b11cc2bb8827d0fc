// The least that simulates anything: a heap of running tasks and a first-in-first-out queue for
// each resource. No memory, one resource a task (its program's first), who waits for whom known
// beforehand. What the simulator costs is told in multiples of this.
#pragma once

#include <cstdint>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

#include "core/program/value/program.h"

namespace strato::bench {

class BareLoop {
 public:
  explicit BareLoop(const Program& program) : queues_(program.resource_count()) {
    const std::size_t tasks = program.tasks.size();
    for (std::size_t i = 0; i < tasks; ++i) {
      duration_.push_back(program.tasks[TaskId(i)].duration.value);
      resource_.push_back(program.resources[i].front().value());
      dependencies_.push_back(static_cast<std::int32_t>(program.dependencies[i].size()));
    }
    begin_.assign(tasks + 1, 0);
    for (std::size_t i = 0; i < tasks; ++i)
      for (const TaskId id : program.dependencies[i]) ++begin_[id.index() + 1];
    for (std::size_t i = 0; i < tasks; ++i) begin_[i + 1] += begin_[i];
    dependents_.resize(begin_.back());
    std::vector<std::uint32_t> next(begin_.begin(), begin_.end() - 1);
    for (std::size_t i = 0; i < tasks; ++i)
      for (const TaskId id : program.dependencies[i])
        dependents_[next[id.index()]++] = static_cast<std::int32_t>(i);
  }

  std::int64_t run() {
    now_ = 0;
    waiting_ = dependencies_;
    for (Queue& queue : queues_) {
      queue.tasks.clear();
      queue.next = 0;
      queue.busy = false;
    }
    for (std::size_t i = 0; i < waiting_.size(); ++i)
      if (waiting_[i] == 0) arrive(static_cast<std::int32_t>(i));
    while (!running_.empty()) {
      const auto [end, task] = running_.top();
      running_.pop();
      now_ = end;
      finish(static_cast<std::size_t>(task));
    }
    return now_;
  }

 private:
  struct Queue {
    std::vector<std::int32_t> tasks;
    std::size_t next = 0;
    bool busy = false;
  };
  using Running = std::pair<std::int64_t, std::int32_t>;

  void arrive(std::int32_t task) {
    Queue& queue = queues_[static_cast<std::size_t>(resource_[static_cast<std::size_t>(task)])];
    queue.tasks.push_back(task);
    if (!queue.busy) start(queue);
  }
  void start(Queue& queue) {
    queue.busy = queue.next < queue.tasks.size();
    if (!queue.busy) return;
    const std::int32_t task = queue.tasks[queue.next++];
    running_.emplace(now_ + duration_[static_cast<std::size_t>(task)], task);
  }
  void finish(std::size_t task) {
    start(queues_[static_cast<std::size_t>(resource_[task])]);
    for (std::uint32_t i = begin_[task]; i < begin_[task + 1]; ++i)
      if (--waiting_[static_cast<std::size_t>(dependents_[i])] == 0) arrive(dependents_[i]);
  }

  std::vector<std::int64_t> duration_;
  std::vector<std::int32_t> resource_, dependencies_, waiting_, dependents_;
  std::vector<std::uint32_t> begin_;
  std::vector<Queue> queues_;
  std::priority_queue<Running, std::vector<Running>, std::greater<>> running_;
  std::int64_t now_ = 0;
};

}  // namespace strato::bench
