// Constraints bound to a problem's ops and devices, one by one, and what they say together about
// each group of one grouping; and the devices that are left to groups that may use only so many of
// them together. Values.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/base/at.h"
#include "core/search/api/problem.h"
#include "core/search/constraints/forbidden_roles.h"
#include "core/strategy/value/strategy.h"

namespace strato {

inline constexpr std::size_t kModeCount = 4;
using DeviceMask = IdVector<DeviceId, char>;
using ModeMask = std::array<bool, kModeCount>;

struct BoundConstraint {
  enum class Kind : std::uint8_t { Pin, Forbid, Together, Limit } kind;
  std::string line;             // in words
  std::vector<OpId> ops;        // ascending, each once
  std::vector<GroupId> groups;  // of the problem's grouping, ascending
  Decision pinned;              // of a Pin
  DeviceMask allowed;
  ModeMask modes;        // that are allowed
  RoleMask roles;        // that are allowed
  std::size_t most = 0;  // devices of a Limit

  bool has(OpId op) const { return std::ranges::binary_search(ops, op); }
  bool allows(const Decision& decision) const;  // its devices, its mode and its columns
  // True when a complete strategy keeps to it; `groups_with_ops`: those of the strategy's grouping
  // that hold its ops, ascending.
  bool is_kept_by(const Strategy& strategy, const Graph& graph, const Grouping& grouping,
                  std::span<const GroupId> groups_with_ops) const;
  // The forbidden role that one of its ops has, and that op's group.
  std::optional<std::pair<Role, GroupId>> role_taken(
      const Strategy& strategy, const Graph& graph, const Grouping& grouping,
      std::span<const GroupId> groups_with_ops) const;
};

// The constraints one by one, in the order of describe(). Throws InputError, which quotes the
// constraint, for names that the problem does not have, and for devices that are named twice.
std::vector<BoundConstraint> bound_to(const Problem& problem, const Constraints& constraints);

// The demands on groups that are decided alike.
struct ConstraintRule {
  std::vector<std::int32_t> items;  // ascending; the constraints that concern one of the groups
  std::optional<Decision> pinned;
  DeviceMask allowed;
  ModeMask modes;
  RoleMask roles;
  bool together = false;  // with others

  bool is_free() const { return items.empty(); }
};

struct ConstraintRules {
  std::vector<std::vector<GroupId>> classes;  // groups that are decided alike, ascending
  IdVector<GroupId, std::int32_t> class_of;
  std::vector<std::int32_t> rule_of;  // by class
  std::vector<ConstraintRule> rules;  // classes with the same constraints have the same

  const ConstraintRule& of(GroupId group) const { return rules[at(rule_of[at(class_of[group])])]; }
};

std::vector<GroupId> groups_holding(std::span<const OpId> ops, const Grouping& grouping);
// True when they keep out of other devices, and the entry of other modes of synchronisation, too.
bool stays_within(std::span<const DeviceShare> shares, const DeviceMask& allowed);
bool stays_within(const VariableSync& variable, const DeviceMask& allowed, const ModeMask& modes);
// Adds the devices of these.
void mark_devices(std::span<const DeviceShare> shares, DeviceMask& used);
void mark_devices(const VariableSync& variable, DeviceMask& used);

// Takes what is not in `mask`.
void keep_only(DeviceMask& devices, const DeviceMask& mask);

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
