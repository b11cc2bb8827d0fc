#include "core/sim/memory_profile.h"

#include <algorithm>
#include <limits>
#include <span>

namespace strato {

void MemoryProfile::start(const Program& program) {
  program_ = &program;
  buffers_.resize(program.buffers.size());
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    const Buffer& buffer = program.buffers[BufferId(i)];
    buffers_[i] = {buffer.bytes.value, 0, 0, buffer.device.value()};
  }
  if (!program.tasks.empty())
    for (const BufferId id : std::span(program.reads[0].data(), program.reads.value_count()))
      ++buffers_[id.index()].readers;
  devices_.resize(program.cluster->device_count());
  for (DeviceEvents& device : devices_) {
    device.compute.clear();
    device.other.clear();
    device.sorted = true;
  }
}

// Running sums of two sorted lists of events; the peak is where bytes were taken.
void MemoryProfile::merge(DeviceEvents& events, DeviceUse& use) {
  if (!events.sorted)
    std::sort(events.other.begin(), events.other.end(),
              [](const Event& a, const Event& b) { return a.moment < b.moment; });
  constexpr Event kNever = {std::numeric_limits<std::int64_t>::max(), 0};
  events.compute.push_back(kNever);
  events.other.push_back(kNever);
  const Event *a = events.compute.data(), *b = events.other.data();
  std::int64_t used = use.resident.value, peak = used, moment = 0;
  while (true) {
    const Event next = b->moment < a->moment ? *b++ : *a++;
    if (next.moment == kNever.moment) break;
    used += next.bytes;
    if (used > peak) peak = used, moment = next.moment;
  }
  use.peak = Bytes(peak);
  use.peak_at = Nanos(moment / 2);
}

void MemoryProfile::finish(Timeline& timeline) {
  for (const Resident& resident : program_->residents)
    timeline.devices[resident.device].resident += resident.bytes;
  for (std::size_t d = 0; d < devices_.size(); ++d)
    merge(devices_[d], timeline.devices[DeviceId(d)]);
}

}  // namespace strato
