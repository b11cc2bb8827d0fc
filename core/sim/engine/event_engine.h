// The semantics of simulate.h as events, word by word: with priorities, and with links that are
// held by one task at a time or shared fairly.
//
// Fair links: a task that communicates queues for its streams only (a transfer has none and starts
// when it is ready), spends its latency, then is a flow (fluid_links.h) with the rest of its
// duration as work, and holds its streams until the flow ends; transfers between the same two
// devices flow one after the other. Reuses its arrays. Not thread safe. Private to this folder.
#pragma once

#include <cstdint>
#include <vector>

#include "core/sim/engine/fluid_links.h"
#include "core/sim/engine/key_heap.h"
#include "core/sim/engine/memory_meter.h"
#include "core/sim/engine/simulate.h"
#include "core/sim/timeline/dependents.h"

namespace strato {

class EventEngine {
 public:
  // Fills tasks, step_time, and each device's resident, peak and peak_at. `busy`: by resource.
  // `timeline` has its devices and options.
  void run(const Program& program, Timeline& timeline, std::vector<Nanos>& busy);

 private:
  // Sorting keys packed into one number each, so that a comparison is one subtraction.
  using Key = unsigned __int128;
  struct Resource {
    KeyHeap<Key> queue;  // (priority, ready, id)
    Nanos busy;
    bool taken = false;
  };

  enum class Phase : std::uint8_t { Running, Latency, Flow, Ended };

  void start();
  std::span<const ResourceId> queued(TaskId id) const;
  void make_ready(TaskId id);
  void start_first(ResourceId resource);
  void begin(TaskId id);
  void begin_flow(TaskId id);
  void next_phase(TaskId id);
  void end(TaskId id);
  void share_links();
  void report_busy(std::vector<Nanos>& busy) const;

  const Program* program_ = nullptr;
  Timeline* timeline_ = nullptr;
  Nanos now_;
  bool priorities_ = true, fair_ = false;
  std::size_t ended_ = 0;
  KeyHeap<Key> running_;      // (end of the phase, id); of flows also ends that no longer hold
  std::vector<Phase> phase_;  // by task
  FluidLinks links_;
  std::vector<Resource> resources_;
  std::vector<ResourceId> touched_;    // freed, or with a new task in the queue, at this moment
  std::vector<TaskId> woken_;          // became ready at this moment
  std::vector<std::int32_t> waiting_;  // by task: dependencies that have not ended
  Dependents dependents_;
  MemoryMeter memory_;
};

}  // namespace strato
