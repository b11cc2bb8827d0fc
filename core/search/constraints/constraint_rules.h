// Rules state what bound constraints say about each group of one grouping. Internal to this folder.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "core/search/constraints/bound_constraints.h"

namespace strato {

inline constexpr std::size_t kModeCount = 4;
using DeviceMask = IdVector<DeviceId, char>;

struct BoundConstraints::Item {
  enum class Kind : std::uint8_t { Pin, Forbid, Together, Limit } kind;
  std::string line;             // in words
  std::vector<OpId> ops;        // ascending, each once
  std::vector<GroupId> groups;  // of the problem's grouping, ascending
  Decision pinned;
  DeviceMask forbidden;  // devices
  std::array<bool, kModeCount> forbidden_modes{};
  std::size_t most = 0;  // devices

  bool has(OpId op) const;
};

// A rule that groups which are decided alike have to obey.
struct ConstraintRule {
  std::vector<std::int32_t> items;  // ascending; those that concern one of the groups
  std::optional<Decision> pinned;
  DeviceMask allowed;
  std::array<bool, kModeCount> modes{};
  bool together = false;  // with others

  bool is_free() const { return items.empty(); }
};

struct BoundConstraints::Rules {
  std::vector<std::vector<GroupId>> classes;  // groups that are decided alike, ascending
  IdVector<GroupId, std::int32_t> class_of;
  std::vector<std::int32_t> rule_of;  // by class
  std::vector<ConstraintRule> rules;  // classes with the same constraints have the same

  const ConstraintRule& of(GroupId group) const {
    return rules[static_cast<std::size_t>(rule_of[static_cast<std::size_t>(class_of[group])])];
  }
};

// A limit allows at most so many devices for all groups with these rules together.
struct DeviceLimit {
  std::size_t most;
  std::vector<std::size_t> rules;  // indices
};
// LimitDevices: by limit, the devices that its groups may use together, as many as it lets.
// Here such that every rule that is not pinned finds one in all of its limits, and pinned ones find
// theirs; those that come first in `preference` (all devices, each once) rather than others.
// `patience`: how often a device is looked at for a rule and a limit, at most (a nanosecond or so
// each).
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

std::vector<GroupId> groups_holding(std::span<const OpId> ops, const Grouping& grouping);
// Tells whether the entry uses no other devices and synchronisation than these.
bool stays_within(const VariableSync& variable, const DeviceMask& allowed,
                  const std::array<bool, kModeCount>& modes);

}  // namespace strato
