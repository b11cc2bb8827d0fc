// First in, first out on exclusive resources, as list scheduling.
//
// Claim: when all priorities are equal, the semantics of simulate.h give the schedule that one pass
// over the tasks in ascending (ready, id) gives, in which a task starts at the latest of its ready
// time and the ends of the last tasks on its resources before it.
// Proof: Queues are ordered by (ready, id), and a task is in all its queues from the moment at
// which it is ready. A task that becomes ready later has a larger key, so it is behind in every
// queue and cannot start before. So task t starts as soon as it is ready, all tasks with smaller
// keys that share a resource with it have started (t is first in its queues) and the last of them
// on each resource has ended (its resources are free), in which the order of the smaller keys on
// each resource is their order in the pass; by induction over the keys their times are those of
// the pass. A task's key is known when its last dependency is processed, and is larger than that
// dependency's key since no task takes zero time: one heap gives the order.
//
// So there are no queues and no events, and a task costs one heap operation. Reuses its arrays.
// Not thread safe. Private to this folder.
#pragma once

#include <cstdint>
#include <vector>

#include "core/sim/engine/key_heap.h"
#include "core/sim/engine/memory_profile.h"
#include "core/sim/engine/simulate.h"
#include "core/sim/timeline/dependents.h"

namespace strato {

class FifoEngine {
 public:
  // Fills tasks, step_time, and each device's resident, peak and peak_at. `busy`: by resource.
  // `timeline` has its devices and options. False, and nothing is done: priorities count and
  // differ.
  bool run(const Program& program, Timeline& timeline, std::vector<Nanos>& busy);

 private:
  struct Node {
    std::int64_t ready;  // of the dependencies so far
    std::int64_t start;
    std::int64_t duration;
    std::int32_t waiting;  // dependencies that have not been processed
    std::int32_t stream;   // the compute stream; -1: it communicates
  };
  struct Resource {
    std::int64_t free = 0, busy = 0;
  };
  // Of a heap: (ready, id) in one number, the id in the lowest bits.
  using Short = std::uint64_t;
  using Long = unsigned __int128;

  bool prepare();  // false: priorities differ
  template <class Key>
  void schedule(KeyHeap<Key>& heap, int id_bits);
  std::int64_t process(TaskId id, Node& node);

  const Program* program_ = nullptr;
  Timeline* timeline_ = nullptr;
  Dependents dependents_;
  MemoryProfile memory_;
  std::int64_t longest_ = 0;  // the sum of all durations, which no time exceeds
  std::vector<Node> nodes_;
  std::vector<Resource> resources_;
  KeyHeap<Short> short_heap_;
  KeyHeap<Long> long_heap_;
};

}  // namespace strato
