#include "core/search/constraints/constraint_rules.h"

#include <algorithm>

namespace strato {
namespace {

bool splits_across(const Decision& decision, const DeviceMask& forbidden) {
  return std::ranges::any_of(decision.devices,
                             [&](const DeviceShare& share) { return forbidden[share.device]; });
}

}  // namespace

void mark_devices(std::span<const DeviceShare> shares, DeviceMask& used) {
  for (const DeviceShare& share : shares) used[share.device] = 1;
}

void mark_devices(const VariableSync& variable, DeviceMask& used) {
  for (const SyncPart& part : variable.parts) {
    if (part.server.valid()) used[part.server] = 1;
    for (const DeviceId station : part.stations) used[station] = 1;
  }
}

bool stays_within(const VariableSync& variable, const DeviceMask& allowed, const ModeMask& modes) {
  for (const SyncPart& part : variable.parts) {
    const bool ps = part.synchroniser == Synchroniser::Ps;
    if (!modes[static_cast<std::size_t>(ps ? Mode::ReplicatePs : Mode::ReplicateAllReduce)])
      return false;
    if (part.server.valid() && !allowed[part.server]) return false;
    for (const DeviceId station : part.stations)
      if (!allowed[station]) return false;
  }
  return true;
}

std::vector<GroupId> groups_holding(std::span<const OpId> ops, const Grouping& grouping) {
  std::vector<GroupId> groups;
  for (const OpId op : ops) groups.push_back(grouping.group_of(op));
  std::ranges::sort(groups);
  groups.erase(std::unique(groups.begin(), groups.end()), groups.end());
  return groups;
}

bool BoundConstraint::has(OpId op) const { return std::ranges::binary_search(ops, op); }

bool BoundConstraint::is_kept_by(const Strategy& strategy,
                                 std::span<const GroupId> groups_with_ops) const {
  const std::size_t devices = forbidden.size();
  DeviceMask allowed(devices, 1), used(devices, 0);
  ModeMask modes{};
  modes.fill(true);
  if (kind == Kind::Forbid) {
    for (std::size_t d = 0; d < devices; ++d) allowed[DeviceId(d)] = !forbidden[DeviceId(d)];
    for (std::size_t m = 0; m < kModeCount; ++m) modes[m] = !forbidden_modes[m];
  } else if (kind == Kind::Pin) {
    std::ranges::fill(allowed, 0);
    mark_devices(pinned.devices, allowed);
    modes.fill(false);
    modes[static_cast<std::size_t>(pinned.mode)] = true;
  }
  for (const GroupId group : groups_with_ops) {
    const Decision& decision = *strategy.groups[group];
    if (kind == Kind::Pin && reduced(decision) != pinned) return false;
    if (kind == Kind::Together &&
        reduced(decision) != reduced(*strategy.groups[groups_with_ops.front()]))
      return false;
    if (kind == Kind::Forbid &&
        (splits_across(decision, forbidden) || !modes[static_cast<std::size_t>(decision.mode)]))
      return false;
    mark_devices(decision.devices, used);
  }
  for (const OpSplit& split : strategy.splits) {
    if (!has(split.op)) continue;
    if (kind == Kind::Pin || kind == Kind::Together) return false;
    for (const DeviceShare& part : split.parts)
      if (!allowed[part.device]) return false;
    mark_devices(split.parts, used);
  }
  for (const VariableSync& variable : strategy.variables) {
    if (!has(variable.update)) continue;
    if (!stays_within(variable, allowed, modes)) return false;
    mark_devices(variable, used);
  }
  return kind != Kind::Limit || static_cast<std::size_t>(std::ranges::count(used, 1)) <= most;
}

}  // namespace strato
