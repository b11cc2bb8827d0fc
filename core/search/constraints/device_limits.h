// Finds the devices that are left to groups that may use only so many of them together.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "core/search/constraints/constraint_rules.h"

namespace strato {

// At most so many devices for all groups with these rules together.
struct DeviceLimit {
  std::size_t most;
  std::vector<std::size_t> rules;  // indices
};

// The devices that the groups of each limit may use together, as many as it lets.
using LimitDevices = std::vector<DeviceMask>;

// A choice such that every rule that is not pinned finds a device in all of its limits, and pinned
// ones find theirs; devices that come first in `preference` (all devices, each once) rather than
// others. `patience`: how often a device is looked at for a rule and a limit, at most (a nanosecond
// or so each).
struct FoundLimitDevices {
  std::optional<LimitDevices> devices;
  bool gave_up = false;  // nothing was found with so much patience; else there is no such choice
};
FoundLimitDevices find_limit_devices(std::span<const DeviceLimit> limits,
                                     std::span<const DeviceId> preference,
                                     std::span<const ConstraintRule> rules, std::size_t patience);
// Takes all others from the rules: every limit is kept, whatever groups then use.
void keep_to(const LimitDevices& devices, std::span<const DeviceLimit> limits,
             std::vector<ConstraintRule>& rules);

}  // namespace strato
