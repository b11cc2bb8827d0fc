// The times at which a device is busy, for schedulers that copy this state often: the idle gaps
// between what is placed, in chunks of plain numbers. A start is found without looking at gaps that
// are too early or, chunk by chunk, too short.
#pragma once

#include <array>
#include <vector>

#include "core/base/units.h"

namespace strato {

class IdleGaps {
 public:
  // The first moment from `ready` on at which the device is idle for `duration`.
  Nanos earliest(Nanos ready, Nanos duration) const;
  // Idle until now (CHECK); a duration of zero takes nothing.
  void occupy(Nanos start, Nanos duration);
  Nanos end() const { return end_; }

 private:
  struct Gap {
    Nanos begin, end;
  };
  struct Chunk {  // ascending, at least one
    static constexpr std::size_t kMost = 64;
    std::size_t count = 0;
    std::array<Gap, kMost> gaps;
    Nanos longest() const;
  };
  std::size_t first_chunk(Nanos end) const;  // with a gap that ends at `end` or later
  void insert(std::size_t chunk, std::size_t at, Gap gap);
  void erase(std::size_t chunk, std::size_t at);

  void refresh(std::size_t chunk) { longest_[chunk] = chunks_[chunk].longest(); }
  void add_chunk(std::size_t before, const Chunk& chunk);
  void split(std::size_t chunk);

  std::vector<Chunk> chunks_;   // none is empty
  std::vector<Nanos> longest_;  // by chunk; side by side, since searches read little else
  Nanos end_;
};

}  // namespace strato
