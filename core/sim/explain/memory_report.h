// Says what is in a device's memory at its peak, and what would help. A pure function of a
// timeline; deterministic; safe from any thread.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "core/graph/group/grouping.h"
#include "core/sim/timeline/timeline.h"

namespace strato {

struct MemoryReport {
  DeviceId device;
  Nanos moment;
  Bytes peak, capacity;
  struct Held {
    TensorId tensor;
    Bytes bytes;
    bool resident;
    TaskId made_by, held_for;  // its writer and its last reader; invalid: resident
  };
  std::vector<Held> largest = {};        // up to 10, largest first
  std::array<Bytes, 6> by_role = {};     // TensorRole
  std::vector<std::string> advice = {};  // empty when it fits; each with its figure
};
// The advice names op groups if there is a `grouping`.
MemoryReport memory_report(const Timeline& timeline, DeviceId device,
                           const Grouping* grouping = nullptr);

}  // namespace strato
