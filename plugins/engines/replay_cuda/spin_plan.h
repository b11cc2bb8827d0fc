// Chooses the clock of the device by which a kernel of a given time spins: the nanosecond counter
// is right whatever the clock rate does, but coarse on some devices (1 us), so short times are
// counted in cycles at the rate that was measured.
#pragma once

#include <cstdint>

#include "core/base/units.h"

namespace strato::replay_cuda {

struct SpinClocks {
  Nanos tick{1};  // of the nanosecond counter
  double cycles_per_nano = 1;
  Nanos overhead;  // from the launch of a kernel that does not spin until it is known done
};

struct SpinPlan {
  enum class Clock : std::uint8_t { None, Cycles, Nanoseconds } clock = Clock::None;
  std::int64_t count = 0;
};

// Returns the plan to spin for `time` from now on until the host knows that the kernel is done.
// None: a launch alone takes longer.
SpinPlan spin_plan(Nanos time, const SpinClocks& calibration);

}  // namespace strato::replay_cuda
