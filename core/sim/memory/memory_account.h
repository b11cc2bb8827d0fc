// What a step costs each device: its memory, and the other figures. Private to core/sim.
#pragma once

#include <cstdint>
#include <vector>

#include "core/sim/memory/task_schedule.h"

namespace strato {

// The highest sum of bytes that are taken and released in the order of time. Within a moment
// releases come first.
struct MemoryEvent {
  std::int64_t moment = 0;  // twice the time in nanoseconds, and one more when bytes are taken
  std::int64_t bytes = 0;   // negative: released

  static MemoryEvent take(Nanos at, Bytes bytes) { return {2 * at.value + 1, bytes.value}; }
  static MemoryEvent release(Nanos at, Bytes bytes) { return {2 * at.value, -bytes.value}; }
  friend bool operator<(const MemoryEvent& a, const MemoryEvent& b) { return a.moment < b.moment; }
};

class MemoryPeak {
 public:
  MemoryPeak() = default;
  explicit MemoryPeak(Bytes used) : used_(used.value), peak_(used.value) {}

  void add(const MemoryEvent& event) {  // in the order of moments
    used_ += event.bytes;
    if (used_ > peak_) peak_ = used_, moment_ = event.moment;
  }
  Bytes bytes() const { return Bytes(peak_); }
  Nanos at() const { return Nanos(moment_ / 2); }  // the first moment at which it is reached

 private:
  std::int64_t used_ = 0, peak_ = 0, moment_ = 0;
};

// The account of each device's and host's memory, after the fact: from the times of all tasks and
// the order in which they started. What a compute stream takes and releases is sorted already by
// that order; only what communication takes and releases has to be sorted, and is merged with it.
// What runs on a compute stream reads and writes buffers of its own device only (the verifier sees
// to it). Passes go along the tasks, not along time: memory is read in the order in which it lies.
// Reuses its arrays.
class MemoryAccount {
 public:
  // Fills peak and peak_at of each device and host from `resident`.
  void measure(const TaskRows& tasks, const TaskSchedule& schedule, SimulatedStep& figures);

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

  void start(const TaskRows& tasks, const TaskSchedule& schedule, const SimulatedStep& figures);
  DeviceEvents& events_of(const Program& program, const Buffer& buffer);
  void find_last_readers(const TaskRows& tasks, const TaskSchedule& schedule);
  void take_and_release(const TaskRows& tasks, const TaskSchedule& schedule);
  MemoryPeak merge(DeviceEvents& events, const TaskSchedule& schedule, Bytes resident) const;

  std::vector<TaskBytes> of_task_;        // by handle
  std::vector<LastReader> last_readers_;  // by buffer
  // And one for tasks that run on no compute stream; then of machines' hosts.
  std::vector<DeviceEvents> devices_;
};

// The figures of a step. Devices of the cluster on which nothing is resident and nothing runs:
void reset_devices(const Cluster& cluster, SimulatedStep& figures);
// Everything but what is resident, which is there already, and the devices' capacity.
void take_figures(const TaskRows& tasks, const TaskSchedule& schedule, MemoryAccount& memory,
                  SimulatedStep& figures);

}  // namespace strato
