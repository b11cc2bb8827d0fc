// The semantics of simulate.h as events, word by word: with priorities, and with links that are
// held by one task at a time or shared fairly.
//
// Fair links: a task that communicates queues for its streams only (a transfer has none and starts
// when it is ready), spends its latency, then is a flow (fluid_links.h) with the rest of its
// duration as work, and holds its streams until the flow ends; transfers between the same two
// devices flow one after the other. Reuses its arrays. Not thread safe. Private to this folder.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/sim/engine/fluid_links.h"
#include "core/sim/engine/key_heap.h"
#include "core/sim/engine/pending_tasks.h"

namespace strato {

class QueueDiscipline {
 public:
  // At time zero. `tasks` are all of the program's, and give way to their true durations;
  // `schedule` gets the order of starts.
  void start(const Program& program, const SimulateOptions& options, PendingTasks& tasks,
             TaskSchedule& schedule);
  void ready(std::size_t place) { woken_.emplace_back(place); }
  Ended next();
  // For how long each resource was busy: of the schedule, after the last task.
  void report_busy() const;

 private:
  // Sorting keys packed into one number each, so that a comparison is one subtraction.
  using Key = unsigned __int128;
  struct Resource {
    KeyHeap<Key> queue;  // (priority, ready, id)
    std::int64_t busy = 0;
    bool taken = false;
  };
  enum class Phase : std::uint8_t { Running, Latency, Flow, Ended };

  std::span<const ResourceId> queued(TaskId id) const;
  void let_processes_start(std::span<TaskId> ready);
  void enter_queues(TaskId id);
  void start_first(ResourceId resource);
  void begin(TaskId id);
  void begin_flow(TaskId id);
  void settle();
  void end_phase(TaskId id);
  Ended end(TaskId id);

  const Program* program_ = nullptr;
  PendingTasks* tasks_ = nullptr;
  TaskSchedule* schedule_ = nullptr;
  Nanos now_;
  bool priorities_ = true, fair_ = false;
  ResourceId first_link_;
  KeyHeap<Key> running_;      // (end of the phase, id); of flows also ends that no longer hold
  std::vector<Phase> phase_;  // by task
  // Where processes need time to start tasks: when they have, by device and by task.
  IdVector<DeviceId, std::int64_t> process_;
  IdVector<TaskId, std::int64_t> issued_;
  FluidLinks links_;
  std::vector<Resource> resources_;
  std::vector<ResourceId> touched_;  // freed, or with a new task in the queue, at this moment
  std::vector<TaskId> woken_;        // became ready at this moment
  std::vector<TaskId> ending_;       // flows that end at this moment, the first of them last
};

}  // namespace strato
