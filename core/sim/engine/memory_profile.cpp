#include "core/sim/engine/memory_profile.h"

#include <algorithm>
#include <limits>

namespace strato {

void MemoryProfile::start(const Program& program) {
  program_ = &program;
  of_task_.clear();
  of_task_.reserve(program.tasks.size());
  devices_.resize(program.cluster->device_count());
  for (DeviceEvents& device : devices_) {
    device.compute.clear();
    device.other.clear();
    device.sorted = true;
  }
}

void MemoryProfile::find_last_readers(const Timeline& timeline) {
  last_readers_.assign(program_->buffers.size(), LastReader());
  for (std::size_t i = 0; i < of_task_.size(); ++i) {
    const std::int64_t end = timeline.tasks[TaskId(i)].end.value;
    for (const BufferId id : program_->reads[i]) {
      LastReader& last = last_readers_[id.index()];
      if (end > last.end) last = {end, TaskId(i)};
    }
  }
}

void MemoryProfile::take_and_release(const Timeline& timeline) {
  for (std::size_t i = 0; i < of_task_.size(); ++i) {
    const TaskId writer(i);
    for (const BufferId id : program_->writes[i]) {
      const Buffer& buffer = program_->buffers[id];
      DeviceEvents& device = devices_[buffer.device.index()];
      if (of_task_[i].taken == kCommunicates) {
        device.add({taken_at(timeline.tasks[writer].start), buffer.bytes.value});
      } else {
        of_task_[i].taken += buffer.bytes.value;
      }
      const TaskId reader = last_readers_[id.index()].task;
      const TaskId last = reader.valid() ? reader : writer;
      if (of_task_[last.index()].taken == kCommunicates) {
        device.add({released_at(timeline.tasks[last].end), -buffer.bytes.value});
      } else {
        of_task_[last.index()].released += buffer.bytes.value;
      }
    }
  }
}

// Running sums of two sorted lists of events; the peak is where bytes were taken.
void MemoryProfile::merge(DeviceEvents& events, const Timeline& timeline, DeviceUse& use) {
  if (!events.sorted)
    std::sort(events.other.begin(), events.other.end(),
              [](const Event& a, const Event& b) { return a.moment < b.moment; });
  events.other.push_back({std::numeric_limits<std::int64_t>::max(), 0});
  const Event* other = events.other.data();
  std::int64_t used = use.resident.value, peak = used, moment = 0;
  const auto apply = [&](const Event& event) {
    used += event.bytes;
    if (used > peak) peak = used, moment = event.moment;
  };
  const auto apply_with_others = [&](const Event& event) {
    while (other->moment < event.moment) apply(*other++);
    apply(event);
  };
  constexpr std::size_t kAhead = 8;
  for (std::size_t i = 0; i < events.compute.size(); ++i) {
    const TaskId id = events.compute[i];
    if (i + kAhead < events.compute.size()) {
      const TaskId later = events.compute[i + kAhead];
      __builtin_prefetch(&timeline.tasks[later]);
      __builtin_prefetch(&of_task_[later.index()]);
    }
    const TaskTimes& times = timeline.tasks[id];
    const TaskBytes& bytes = of_task_[id.index()];
    apply_with_others({taken_at(times.start), bytes.taken});
    apply_with_others({released_at(times.end), -bytes.released});
  }
  while (other + 1 < events.other.data() + events.other.size()) apply(*other++);
  use.peak = Bytes(peak);
  use.peak_at = Nanos(moment / 2);
}

void MemoryProfile::finish(Timeline& timeline) {
  for (const Resident& resident : program_->residents)
    timeline.devices[resident.device].resident += resident.bytes;
  find_last_readers(timeline);
  take_and_release(timeline);
  for (std::size_t d = 0; d < devices_.size(); ++d)
    merge(devices_[d], timeline, timeline.devices[DeviceId(d)]);
}

}  // namespace strato
