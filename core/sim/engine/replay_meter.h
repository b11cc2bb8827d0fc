// What is measured of a replay: memory peaks and what the groups do, from the times of its tasks in
// passes over arrays. The same figures as the simulator's and feedback()'s.
//
// Most passes go along the store, not along time: memory is read in the order in which it lies.
#pragma once

#include <cstdint>
#include <vector>

#include "core/program/delta/delta_lower.h"
#include "core/sim/engine/replay.h"
#include "core/sim/engine/simulate.h"
#include "core/sim/timeline/feedback.h"

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
  static constexpr std::int32_t kGone = -2, kCommunicates = -1;
  struct Facts {                                         // of a task
    std::uint32_t reads, reads_end, writes, writes_end;  // in the store's rows
    std::int32_t group;                                  // of its op; -1: none
    bool is_op, waits;  // a compute task or an update; has dependencies
  };
  struct TaskBytes {               // of a task
    std::int64_t taken, released;  // by its device, where it has one
    std::int32_t device;           // of compute, splits, ...; or kCommunicates, kGone
  };
  struct LastReader {
    std::int64_t end;
    std::int32_t task;
  };
  struct Event {
    std::int64_t moment;  // twice the time, and one more when bytes are taken
    std::int64_t bytes;   // negative: released
  };
  struct DeviceState {
    std::vector<Event> others;  // by communication
    std::size_t next = 0;
    std::int64_t used, peak, moment;
    void apply(const Event& event) {
      used += event.bytes;
      if (used > peak) peak = used, moment = event.moment;
    }
    void apply_with_others(const Event& event) {
      while (others[next].moment < event.moment) apply(others[next++]);
      apply(event);
    }
  };
  struct Span {
    std::int64_t first, last, idle, transfers;
  };

  void set_facts(const DeltaLowering& lowering, TaskId task);
  void reset(const DeltaLowering& lowering);
  void find_last_readers(const Replay& replay);
  void add_to_group(const Facts& facts, bool communicates, std::int64_t start,
                    const Replay::Times& times);
  void take_and_release(const DeltaLowering& lowering, const Replay& replay);
  void find_peaks(const Replay& replay);

  std::vector<Facts> facts_;              // by handle
  std::vector<TaskBytes> bytes_;          // by handle
  std::vector<LastReader> last_readers_;  // by buffer's handle
  std::vector<DeviceState> devices_;
  std::vector<Span> spans_;
  const BufferId* reads_ = nullptr;
  IdVector<DeviceId, Peak> peaks_;
  IdVector<GroupId, Feedback::Group> groups_;
};

}  // namespace strato
