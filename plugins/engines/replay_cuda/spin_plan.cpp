#include "plugins/engines/replay_cuda/spin_plan.h"

#include <cmath>

namespace strato::replay_cuda {
namespace {

constexpr std::int64_t kFineTicks = 200;  // so many of them, and one more or less is half a percent

}  // namespace

SpinPlan spin_plan(Nanos time, const SpinClocks& calibration) {
  const Nanos spin = time - calibration.overhead;
  if (spin <= Nanos(0)) return {};
  if (spin >= kFineTicks * calibration.tick) return {SpinPlan::Clock::Nanoseconds, spin.value};
  const double cycles = static_cast<double>(spin.value) * calibration.cycles_per_nano;
  return {SpinPlan::Clock::Cycles, std::llround(cycles)};
}

}  // namespace strato::replay_cuda
