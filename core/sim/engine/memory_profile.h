// The peak of each device's memory, after the fact: from the times of all tasks and, for each
// device, its compute tasks in the order of their starts. What those take and release is then
// sorted already; only what communication takes and releases has to be sorted, and merged with it.
// At equal times releases come first. What computes reads and writes buffers of its own device only
// (the verifier sees to it). Reuses its arrays. Private to this folder.
#pragma once

#include <cstdint>
#include <vector>

#include "core/sim/engine/simulate.h"

namespace strato {

class MemoryProfile {
 public:
  // Before the tasks: as many calls as there are tasks, in their order.
  void start(const Program& program);
  void declare(bool computes) { of_task_.push_back({computes ? 0 : kCommunicates, 0}); }
  // In the order of starts on each device.
  void add_compute(TaskId task, DeviceId device) {
    devices_[device.index()].compute.push_back(task);
  }
  // Fills resident, peak and peak_at.
  void finish(Timeline& timeline);

 private:
  static constexpr std::int64_t kCommunicates = -1;
  struct TaskBytes {
    std::int64_t taken;     // at its start; kCommunicates: looked at buffer by buffer
    std::int64_t released;  // at its end
  };
  struct LastReader {
    std::int64_t end = 0;
    TaskId task;
  };
  struct Event {
    std::int64_t moment;  // twice the time, and one more when bytes are taken
    std::int64_t bytes;   // negative: released
  };
  struct DeviceEvents {
    std::vector<TaskId> compute;
    std::vector<Event> other;
    bool sorted = true;  // `other` is
    void add(Event event) {
      sorted = sorted && (other.empty() || other.back().moment <= event.moment);
      other.push_back(event);
    }
  };
  static std::int64_t taken_at(Nanos time) { return 2 * time.value + 1; }
  static std::int64_t released_at(Nanos time) { return 2 * time.value; }

  void find_last_readers(const Timeline& timeline);
  void take_and_release(const Timeline& timeline);
  void merge(DeviceEvents& events, const Timeline& timeline, DeviceUse& use);

  const Program* program_ = nullptr;
  std::vector<TaskBytes> of_task_;
  std::vector<LastReader> last_readers_;  // by buffer
  std::vector<DeviceEvents> devices_;
};

}  // namespace strato
