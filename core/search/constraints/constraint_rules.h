// Constraints bound to a problem's ops and devices, one by one, and what they say together about
// each group of one grouping. Values.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/search/api/problem.h"
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
  Decision pinned;
  DeviceMask forbidden;  // devices
  ModeMask forbidden_modes{};
  std::size_t most = 0;  // devices

  bool has(OpId op) const;
  // True when a complete strategy keeps to it; `groups_with_ops`: those of the strategy's grouping
  // that hold its ops, ascending.
  bool is_kept_by(const Strategy& strategy, std::span<const GroupId> groups_with_ops) const;
};

// The demands on groups that are decided alike.
struct ConstraintRule {
  std::vector<std::int32_t> items;  // ascending; the constraints that concern one of the groups
  std::optional<Decision> pinned;
  DeviceMask allowed;
  ModeMask modes{};
  bool together = false;  // with others

  bool is_free() const { return items.empty(); }
};

struct ConstraintRules {
  std::vector<std::vector<GroupId>> classes;  // groups that are decided alike, ascending
  IdVector<GroupId, std::int32_t> class_of;
  std::vector<std::int32_t> rule_of;  // by class
  std::vector<ConstraintRule> rules;  // classes with the same constraints have the same

  const ConstraintRule& of(GroupId group) const {
    return rules[static_cast<std::size_t>(rule_of[static_cast<std::size_t>(class_of[group])])];
  }
};

std::vector<GroupId> groups_holding(std::span<const OpId> ops, const Grouping& grouping);
// True when the entry keeps out of other devices and modes of synchronisation.
bool stays_within(const VariableSync& variable, const DeviceMask& allowed, const ModeMask& modes);
// Adds the devices of these.
void mark_devices(std::span<const DeviceShare> shares, DeviceMask& used);
void mark_devices(const VariableSync& variable, DeviceMask& used);

}  // namespace strato
