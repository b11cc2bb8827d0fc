// The clocks of the ranks, read against rank 0's at two moments: between them a clock is taken to
// drift evenly.
#pragma once

#include <cstdint>
#include <vector>

#include "core/plugin/api/rank_engine.h"

namespace strato::worker {

struct ClockReading {
  std::int64_t at = 0;      // of the rank's own clock
  std::int64_t offset = 0;  // what to add to get rank 0's
  std::int64_t error = 0;   // at most so far off: half of the quickest round trip
};

// By ping-pong between rank 0 and each other rank in turn; the quickest round trip counts. Every
// rank calls it; the result, by rank, is filled at rank 0 and empty elsewhere. Throws what the
// transport throws.
std::vector<ClockReading> read_clocks(Transport& transport, int rank, int ranks);

class ClockLine {
 public:
  ClockLine() = default;
  ClockLine(const ClockReading& first, const ClockReading& last) : first_(first), last_(last) {}
  std::int64_t on_rank_0(std::int64_t own) const;

 private:
  ClockReading first_, last_;
};

}  // namespace strato::worker
