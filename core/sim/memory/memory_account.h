// The account of each device's memory, after the fact: from the times of all tasks and the order in
// which they started. What a compute stream takes and releases is sorted already by that order;
// only what communication takes and releases has to be sorted, and is merged with it. What runs on
// a compute stream reads and writes buffers of its own device only (the verifier sees to it).
// Passes go along the tasks, not along time: memory is read in the order in which it lies. Reuses
// its arrays. Private to core/sim.
#pragma once

#include <cstdint>
#include <vector>

#include "core/sim/memory/memory_peak.h"
#include "core/sim/memory/task_rows.h"
#include "core/sim/memory/task_schedule.h"

namespace strato {

class MemoryAccount {
 public:
  // Fills peak and peak_at of each device from `resident`.
  void measure(const TaskRows& tasks, const TaskSchedule& schedule,
               IdVector<DeviceId, DeviceUse>& devices);

 private:
  static constexpr std::int64_t kCommunicates = -1;
  struct TaskBytes {
    std::int64_t taken;     // at its start; kCommunicates: looked at buffer by buffer
    std::int64_t released;  // at its end
  };
  struct LastReader {
    std::int64_t end = 0;
    std::int32_t task = -1;
  };
  struct DeviceEvents {
    std::vector<TaskId> compute;      // in the order of starts
    std::vector<MemoryEvent> others;  // by communication
    bool sorted = true;               // `others` are
    void add(MemoryEvent event);
  };

  void start(const TaskRows& tasks, const TaskSchedule& schedule, std::size_t devices);
  void find_last_readers(const TaskRows& tasks, const TaskSchedule& schedule);
  void take_and_release(const TaskRows& tasks, const TaskSchedule& schedule);
  MemoryPeak merge(DeviceEvents& events, const TaskSchedule& schedule, Bytes resident) const;

  std::vector<TaskBytes> of_task_;        // by handle
  std::vector<LastReader> last_readers_;  // by buffer
  std::vector<DeviceEvents> devices_;     // and one for tasks that run on no compute stream
};

}  // namespace strato
