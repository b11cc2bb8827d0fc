// The memory of each device as it stands, for engines that go through time in order: within one
// moment first the ends, then the starts. Private to this folder.
#pragma once

#include <span>
#include <vector>

#include "core/sim/engine/simulate.h"

namespace strato {

class MemoryMeter {
 public:
  // Fills resident, and peak as if there were nothing else; begin() raises it.
  void start(const Program& program, Timeline& timeline) {
    program_ = &program;
    timeline_ = &timeline;
    readers_.assign(program.buffers.size(), 0);
    if (!program.tasks.empty())
      for (const BufferId id : std::span(program.reads[0].data(), program.reads.value_count()))
        ++readers_[id.index()];
    for (const Resident& resident : program.residents)
      timeline.devices[resident.device].resident += resident.bytes;
    used_.clear();
    for (DeviceUse& use : timeline.devices) used_.push_back(use.peak = use.resident);
  }

  void begin(TaskId task, Nanos now) {
    for (const BufferId id : program_->writes[task.index()]) {
      const Buffer& taken = program_->buffers[id];
      DeviceUse& use = timeline_->devices[taken.device];
      Bytes& bytes = used_[taken.device.index()];
      bytes += taken.bytes;
      if (bytes > use.peak) use.peak = bytes, use.peak_at = now;
    }
  }

  void end(TaskId task) {
    for (const BufferId id : program_->reads[task.index()])
      if (--readers_[id.index()] == 0) release(id);
    for (const BufferId id : program_->writes[task.index()])
      if (readers_[id.index()] == 0) release(id);
  }

 private:
  void release(BufferId id) {
    const Buffer& freed = program_->buffers[id];
    used_[freed.device.index()] -= freed.bytes;
  }

  const Program* program_ = nullptr;
  Timeline* timeline_ = nullptr;
  std::vector<std::int32_t> readers_;  // by buffer: that have not ended
  std::vector<Bytes> used_;            // by device
};

}  // namespace strato
