// The buffers of one device in time, and what its peak would be if some were held for less time.
#pragma once

#include <span>
#include <vector>

#include "core/sim/timeline/lifetimes.h"

namespace strato {

struct HeldBuffer {
  BufferId buffer;
  TensorId tensor;
  Bytes bytes;
  TaskId made_by, held_for;  // its writer and its last reader
  Nanos begin, end;
  // A forward op's output that the backward pass reads only waits in this time, and could be
  // dropped and computed again. Empty for all others.
  Nanos kept_from, kept_until;

  bool is_alive(Nanos moment) const { return begin <= moment && moment < end; }
};

std::vector<HeldBuffer> held_buffers(const Timeline& timeline, DeviceId device);

// Returns the peak without residents. The first `dropped` entries of `order` (indices into
// `buffers`) do not count while they only wait.
Bytes peak_of(std::span<const HeldBuffer> buffers, std::span<const std::size_t> order = {},
              std::size_t dropped = 0);

}  // namespace strato
