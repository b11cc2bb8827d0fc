// How long messages of growing sizes take between ranks: one probe
// (core/launch/measure/measure_job.h) at a time, by all of its members together. The first of them
// leads: it sets sizes and repetitions as far as the time goes, tells the others before every size,
// and takes the times.
//
// A transfer's time is from the moment at which both ends are ready to the moment at which all is
// there: half of the round trip of an empty answer is taken off. A collective's is from end to end
// of repetitions without a pause. Medians.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <vector>

#include "app/worker/message_memory.h"
#include "core/cost/value/profile.h"
#include "core/launch/measure/measure_job.h"
#include "core/plugin/api/rank_engine.h"

namespace strato::worker {

struct SizeRange {
  Bytes smallest, largest;
};

class Probing {
 public:
  // `ended`: raised whenever a message or a collective is done; all outlive this.
  Probing(Transport& transport, MessageMemory& memory, int rank, std::atomic<std::uint64_t>& ended)
      : transport_(transport), memory_(memory), rank_(rank), ended_(ended) {}

  // As the probe's first member: ascending by size, the two smallest whatever time they take, more
  // as long as `time` suffices. Throws PeerFailure.
  std::vector<SizedMeasurement> lead(const Probe& probe, SizeRange sizes,
                                     std::chrono::nanoseconds time);
  // As another member, until the leader ends it.
  void follow(const Probe& probe);

 private:
  struct Round {
    std::int64_t bytes = 0, count = 0;  // count 0: no more
  };
  SizedMeasurement measure(const Probe& probe, Bytes bytes, std::chrono::nanoseconds allowed);
  std::vector<double> round(const Probe& probe, Round what);  // nanoseconds of each repetition
  void tell(const Probe& probe, Round what);
  void run(const Probe& probe, std::int64_t bytes, bool leads);
  void exchange(const Probe& probe, std::int64_t bytes, bool leads);
  void collect(const Probe& probe, std::int64_t bytes);
  void wait(std::unique_ptr<Pending> pending);

  Transport& transport_;
  MessageMemory& memory_;
  int rank_;
  std::atomic<std::uint64_t>& ended_;
  double answer_ = 0;  // nanoseconds that an empty answer takes
};

}  // namespace strato::worker
