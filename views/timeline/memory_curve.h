// Memory of one device over the step as a step curve: buffers are taken when the task that writes
// them starts and released when their last reader ends; residents are there throughout
// (core/sim/engine/simulate.h). The highest value of any stretch of time is found through a
// pyramid, so a curve costs what its pixels cost.
#pragma once

#include <cstdint>
#include <vector>

#include "core/sim/engine/simulate.h"

namespace strato {

class MemoryCurve {
 public:
  struct Change {
    std::int64_t time, bytes;  // bytes: taken (positive) or released
  };
  MemoryCurve() = default;
  // Changes in any order; at equal times releases come first, as in the simulator.
  MemoryCurve(std::int64_t resident, std::vector<Change> changes);

  std::int64_t at(std::int64_t time) const;                        // after the changes at `time`
  std::int64_t highest(std::int64_t from, std::int64_t to) const;  // over [from, to]
  // The same for stretches in time order, each about where the one before ended: cheaper.
  class Walk {
   public:
    explicit Walk(const MemoryCurve& curve) : curve_(curve) {}
    std::int64_t highest(std::int64_t from, std::int64_t to);  // neither goes back

   private:
    const MemoryCurve& curve_;
    std::size_t at_ = 0;               // changes up to the last `from`
    std::size_t end_ = 0, guess_ = 1;  // changes up to the last `to`; how many were in between
    std::int64_t to_ = 0;
  };
  std::int64_t peak() const { return peak_; }
  std::size_t size() const { return times_.size(); }

 private:
  std::int64_t highest_of(std::size_t first, std::size_t last) const;  // of points [first, last)

  std::vector<std::int64_t> times_;  // ascending, unique
  std::vector<std::vector<std::int64_t>>
      levels_;  // 0: after each change; above: highest of 16 below
  std::int64_t resident_ = 0, peak_ = 0;
};

// One curve per device.
IdVector<DeviceId, MemoryCurve> memory_curves(const Timeline& timeline);

}  // namespace strato
