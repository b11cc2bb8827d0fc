#include "core/strategy/value/share_weights.h"

#include <numeric>

namespace strato {

void divide_by_common(std::vector<DeviceShare>& shares) {
  std::int32_t divisor = 0;
  for (const DeviceShare& share : shares) divisor = std::gcd(divisor, share.weight);
  if (divisor < 2) return;
  for (DeviceShare& share : shares) share.weight /= divisor;
}

Decision reduced(Decision decision) {
  const bool splits =
      decision.mode == Mode::ReplicateAllReduce || decision.mode == Mode::ReplicatePs;
  if (splits) {
    divide_by_common(decision.devices);
  } else {
    for (DeviceShare& share : decision.devices) share.weight = 1;
  }
  return decision;
}

}  // namespace strato
