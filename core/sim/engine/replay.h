// The schedule after a change, from where it can differ.
//
// First in, first out on exclusive resources is list scheduling: tasks taken in ascending (ready,
// id) start at the later of their ready time and the moment at which the last of their resources is
// free. (Queues are ordered by (ready, id), a task is first in all its queues when all tasks before
// it are done with its resources, and a task that becomes ready later comes after: durations are
// positive.)
//
// So a task's times depend only on tasks that come before it. Let B be the earliest of: the ready
// times of tasks that are gone, and of tasks that are new, or have other dependencies or another
// place among equals, before the change and, as far as their dependencies are untouched, after it.
// Then every task that was ready before B has the times that it had: its dependencies and the tasks
// before it on its resources were ready before B, too; and none of the changed tasks is ready
// before B, because its last dependency either is untouched, or is itself not ready before B. What
// was taken before B is kept, the state of the resources there is known from snapshots every
// kStride tasks, and the rest is scheduled again, without building a program.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/program/delta/delta_lower.h"
#include "core/sim/engine/key_heap.h"
#include "core/sim/engine/simulate.h"

namespace strato {

class Replay {
 public:
  struct Times {
    std::int64_t ready = 0, end = 0;  // nanoseconds
    std::int32_t position = -1;       // in the order
  };

  // Starts from times that are known: of the tasks of a program lowered anew, by id.
  void start(const DeltaLowering& lowering, const IdVector<TaskId, TaskTimes>& times);
  void follow(const DeltaLowering& lowering, const DeltaLowering::Change& change);

  std::span<const std::int32_t> order() const { return order_; }  // handles, as they were taken
  const Times& times(std::size_t task) const { return times_[task]; }
  std::int64_t duration(std::size_t task) const { return nodes_[task].duration; }
  std::int64_t busy(ResourceId resource) const { return busy_[resource.index()]; }
  Nanos step_time() const;

 private:
  static constexpr std::size_t kStride = 256;

  struct Node {  // of a task, by handle
    std::int64_t duration;
    std::uint32_t dependencies, dependencies_end;  // in the store's rows
    std::uint32_t resources, resources_end;
  };
  struct Pending {  // of a task that is scheduled again
    std::int64_t ready, duration;
    std::int32_t waiting;  // dependencies that are pending
    std::int32_t stream;   // its only resource, or -1
    std::uint32_t resources, resources_end;
    std::int32_t task;
  };

  void set_node(const DeltaLowering& lowering, TaskId task);
  void add_busy(const DeltaLowering& lowering, std::size_t task, std::int64_t sign);
  std::int64_t first_change(const DeltaLowering::Change& change);
  std::int64_t set_ready(std::size_t task);
  std::size_t begin_of(std::int64_t time) const;
  void collect(const DeltaLowering& lowering, std::size_t begin);
  void index_dependents(std::size_t begin);
  template <class Key>
  void schedule(KeyHeap<Key>& heap);
  std::int64_t take(Pending& pending);
  void save();

  const TaskId* dependencies_ = nullptr;
  const ResourceId* needed_ = nullptr;
  std::vector<Node> nodes_;   // by handle
  std::vector<Times> times_;  // by handle
  std::vector<std::int32_t> order_;
  std::vector<std::int64_t> free_;       // by resource
  std::vector<std::int64_t> snapshots_;  // of free_, before every kStride-th task
  std::vector<std::int64_t> busy_;       // by resource

  std::vector<Pending> pending_;  // in emission order: among equals the smaller index comes first
  std::vector<std::uint32_t> dependent_begin_;
  std::vector<std::int32_t> dependents_, edges_;
  std::vector<TaskId> emitted_;
  std::int64_t total_ = 0;             // of all durations: no task is ready later
  KeyHeap<std::uint64_t> short_heap_;  // where ready time and place fit into 64 bits
  KeyHeap<unsigned __int128> long_heap_;
};

}  // namespace strato
