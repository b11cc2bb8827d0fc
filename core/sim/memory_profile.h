// The peak of each device's memory, from tasks that are reported in any order, except that the
// compute tasks of one device come in the order of their starts. What compute tasks take and
// release is then sorted as it comes; what communication takes and releases is sorted on its own
// and merged. At equal times releases come first. Private to this folder.
#pragma once

#include <cstdint>
#include <vector>

#include "core/sim/simulate.h"

namespace strato {

class MemoryProfile {
 public:
  void start(const Program& program);
  void compute(TaskId task, DeviceId device, Nanos start, Nanos end);
  void communicate(TaskId task, Nanos start, Nanos end);
  // Fills resident, peak and peak_at. Every task has been reported.
  void finish(Timeline& timeline);

 private:
  struct BufferState {
    std::int64_t bytes;
    std::int64_t last_end;  // of its writer and the readers so far
    std::int32_t readers;   // still to come
    std::int32_t device;
  };
  struct Event {
    std::int64_t moment;  // twice the time, and one more when bytes are taken
    std::int64_t bytes;   // negative: released
  };
  struct DeviceEvents {
    std::vector<Event> compute;  // ascending by moment
    std::vector<Event> other;
    bool sorted = true;  // `other` is
    void add_other(Event event) {
      sorted = sorted && (other.empty() || other.back().moment <= event.moment);
      other.push_back(event);
    }
  };
  static std::int64_t taken_at(Nanos time) { return 2 * time.value + 1; }
  static std::int64_t released_at(std::int64_t time) { return 2 * time; }
  void merge(DeviceEvents& events, DeviceUse& use);

  const Program* program_ = nullptr;
  std::vector<BufferState> buffers_;
  std::vector<DeviceEvents> devices_;
};

inline void MemoryProfile::compute(TaskId task, DeviceId device, Nanos start, Nanos end) {
  DeviceEvents& here = devices_[device.index()];
  std::int64_t taken = 0, released = 0;
  for (const BufferId id : program_->writes[task.index()]) {
    BufferState& buffer = buffers_[id.index()];
    buffer.last_end = end.value;
    taken += buffer.bytes;
    if (buffer.readers == 0) released += buffer.bytes;
  }
  for (const BufferId id : program_->reads[task.index()]) {
    BufferState& buffer = buffers_[id.index()];
    if (--buffer.readers > 0) {
      if (buffer.last_end < end.value) buffer.last_end = end.value;
    } else if (buffer.last_end <= end.value) {
      released += buffer.bytes;
    } else {
      here.add_other({released_at(buffer.last_end), -buffer.bytes});
    }
  }
  if (taken > 0) here.compute.push_back({taken_at(start), taken});
  if (released > 0) here.compute.push_back({released_at(end.value), -released});
}

inline void MemoryProfile::communicate(TaskId task, Nanos start, Nanos end) {
  const auto release = [&](const BufferState& buffer) {
    devices_[static_cast<std::size_t>(buffer.device)].add_other(
        {released_at(buffer.last_end), -buffer.bytes});
  };
  for (const BufferId id : program_->writes[task.index()]) {
    BufferState& buffer = buffers_[id.index()];
    buffer.last_end = end.value;
    devices_[static_cast<std::size_t>(buffer.device)].add_other({taken_at(start), buffer.bytes});
    if (buffer.readers == 0) release(buffer);
  }
  for (const BufferId id : program_->reads[task.index()]) {
    BufferState& buffer = buffers_[id.index()];
    if (buffer.last_end < end.value) buffer.last_end = end.value;
    if (--buffer.readers == 0) release(buffer);
  }
}

}  // namespace strato
