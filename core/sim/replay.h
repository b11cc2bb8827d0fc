// Times of tasks in a guessed order, without a queue.
//
// First in, first out on exclusive resources is list scheduling: tasks taken in ascending (ready, id)
// start at the later of their ready time and the moment at which the last of their resources is free.
// (Queues are ordered by (ready, id), a task is first in all its queues when all tasks before it are
// done with its resources, and a task that becomes ready later comes after: durations are positive.)
// Only the order on each resource matters. So, given a guess of the order, each task needs one look at
// its dependencies and resources; where a resource sees a smaller (ready, id) after a larger one the
// guess was wrong, and the stretch since then is sorted by what was computed and gone through again.
// When no resource sees one, the times are those of the simulator, whatever the guess was.
//
// The guess is the last order, with new tasks put in where their dependencies ended. The order before
// the first change is not gone through again: the state of all resources is kept every kStride tasks.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/program/delta_lower.h"
#include "core/sim/simulate.h"

namespace strato {

class Replay {
 public:
  struct Times {
    std::int64_t ready = 0, end = 0;   // nanoseconds
    std::int32_t position = -1;        // in the order; -1: gone, or not there yet
    std::int32_t waiting = -1;         // the first task that waits for this one to be gone through
    std::int32_t next_waiting = -1;    // list of those
    std::int32_t guess = 0;            // where it was met first, when it waits
  };

  // Starts from times that are known: of the tasks of a program lowered anew, by id.
  void start(const DeltaLowering& lowering, const IdVector<TaskId, TaskTimes>& times);
  // Follows a change. False: gave up, start() again; the order was too far from the guess.
  bool follow(const DeltaLowering& lowering, const DeltaLowering::Change& change);

  std::span<const std::int32_t> order() const { return order_; }  // handles
  const Times& times(std::size_t task) const { return times_[task]; }
  std::int64_t duration(std::size_t task) const { return nodes_[task].duration; }
  std::int64_t busy(ResourceId resource) const { return busy_[resource.index()]; }
  Nanos step_time() const;
  std::size_t replayed() const { return replayed_; }

 private:
  static constexpr std::size_t kStride = 256;
  static constexpr std::int64_t kUnknown = INT64_MAX;

  struct Node {
    std::int64_t duration;
    std::uint64_t tie;
    std::uint32_t dependencies, dependencies_end;  // in the store's rows
    std::uint32_t resources, resources_end;
  };
  struct Resource {
    std::int64_t free = 0, ready = 0;  // ready and tie: of the last task on it
    std::uint64_t tie = 0;
  };

  void set_node(const DeltaLowering& lowering, TaskId task);
  void add_busy(const DeltaLowering& lowering, std::size_t task, std::int64_t sign);
  std::size_t guess_added(const DeltaLowering& lowering, const DeltaLowering::Change& change);
  void guess_order(std::size_t begin);
  bool run(std::size_t begin);
  bool pass(std::int32_t task);
  bool back(std::int32_t task);
  void wait(std::int32_t task);
  void wake(std::int32_t task);
  bool before(const Node& node, std::int64_t ready, const Resource& resource) const {
    return ready < resource.ready || (ready == resource.ready && node.tie < resource.tie);
  }
  void save() {
    std::copy(resources_.begin(), resources_.end(),
              snapshots_.begin() + static_cast<std::ptrdiff_t>(order_.size() / kStride *
                                                               resources_.size()));
  }

  const TaskId* dependencies_ = nullptr;
  const ResourceId* needed_ = nullptr;
  std::vector<Node> nodes_;               // by handle
  std::vector<Times> times_;              // by handle
  std::vector<std::int32_t> order_;
  std::vector<std::int32_t> guess_;       // what is to be gone through, from cursor_
  std::size_t cursor_ = 0;
  std::vector<std::int64_t> woken_;       // heap of (guess, task), smallest first
  std::vector<Resource> resources_, snapshots_;
  std::vector<std::int64_t> busy_;        // by resource
  std::size_t replayed_ = 0;

  struct Added {
    std::int64_t ready;
    std::uint64_t tie;
    std::int32_t task;
  };
  std::vector<Added> added_;
};

}  // namespace strato
