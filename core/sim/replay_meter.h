// What is measured of a replay: memory peaks and what the groups do, from the times of its tasks in
// passes over arrays. The same figures as the simulator's and feedback()'s.
//
// A device's compute stream takes and releases in the order of its tasks. Only what communication
// takes and releases has to be sorted, and is nearly so: it is merged in.
#pragma once

#include <cstdint>
#include <vector>

#include "core/program/delta_lower.h"
#include "core/sim/replay.h"
#include "core/sim/simulate.h"

namespace strato {

class ReplayMeter {
 public:
  void start(const DeltaLowering& lowering);  // after everything was lowered anew
  void follow(const DeltaLowering& lowering, const DeltaLowering::Change& change);
  void measure(const DeltaLowering& lowering, const Replay& replay);

  struct Peak {
    Bytes bytes;
    Nanos moment;
  };
  const IdVector<DeviceId, Peak>& peaks() const { return peaks_; }
  const IdVector<GroupId, Feedback::Group>& groups() const { return groups_; }

 private:
  struct Facts {  // of a task
    std::uint32_t reads, reads_end, writes, writes_end;  // in the store's rows
    std::int32_t device;  // of compute, splits, ...; -1: communication
    std::int32_t group;   // of its op; -1: none
    std::int64_t taken;   // bytes that it writes, where device >= 0
    bool is_op, waits;    // a compute task or an update; has dependencies
  };
  struct Release {
    std::int64_t time;
    std::int32_t task;
  };
  struct Event {
    std::int64_t time, bytes;
  };
  struct DeviceState {
    std::vector<Event> takes, releases;  // by communication, ascending
    std::size_t next_take, next_release;
    std::int64_t used, peak, peak_at;
    Event pending;  // the release by the last task of its compute stream
  };
  struct Span {
    std::int64_t first, last, idle, transfers;
  };

  void set_facts(const DeltaLowering& lowering, TaskId task);
  void find_releases(const Replay& replay);
  void add_communication(const Replay& replay, std::int32_t task);
  void add_compute(const Replay& replay, std::int32_t task);
  void advance(DeviceState& device, std::int64_t time);
  static void release_until(DeviceState& device, std::int64_t time);
  std::int64_t released_by(std::int32_t task) const;

  std::vector<Facts> facts_;       // by handle
  std::vector<Release> releases_;  // by buffer's handle: its last reader, or its writer
  std::vector<std::int32_t> communication_;
  const BufferId* reads_ = nullptr;
  const BufferId* writes_ = nullptr;
  const Buffer* buffers_ = nullptr;
  std::vector<DeviceState> devices_;
  std::vector<Span> spans_;
  IdVector<DeviceId, Peak> peaks_;
  IdVector<GroupId, Feedback::Group> groups_;
};

}  // namespace strato
