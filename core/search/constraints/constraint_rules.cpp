#include "core/search/constraints/constraint_rules.h"

#include <functional>
#include <utility>

namespace strato {

void mark_devices(std::span<const DeviceShare> shares, DeviceMask& used) {
  for (const DeviceShare& share : shares) used[share.device] = 1;
}

void mark_devices(const VariableSync& variable, DeviceMask& used) {
  for (const SyncPart& part : variable.parts) {
    if (part.server.valid()) used[part.server] = 1;
    for (const DeviceId station : part.stations) used[station] = 1;
  }
}

bool stays_within(std::span<const DeviceShare> shares, const DeviceMask& allowed) {
  return std::ranges::all_of(shares, [&](const DeviceShare& s) { return allowed[s.device] != 0; });
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

void keep_only(DeviceMask& devices, const DeviceMask& mask) {
  std::ranges::transform(devices, mask, devices.begin(), std::bit_and());
}

bool BoundConstraint::allows(const Decision& decision) const {
  const auto forbids = [&](Role role) { return !roles[static_cast<std::size_t>(role)]; };
  if (forbids(Role::Tensor) && columns_of(decision) > 1) return false;
  if (forbids(Role::Context) && context_rows_of(decision) > 1) return false;
  if (forbids(Role::Expert) && expert_rows_of(decision) > 1) return false;
  if (forbids(Role::Sharding) && state_rows_of(decision) > 1) return false;
  return modes[static_cast<std::size_t>(decision.mode)] && stays_within(decision.devices, allowed);
}

std::optional<std::pair<Role, GroupId>> BoundConstraint::role_taken(
    const Strategy& strategy, const Graph& graph, const Grouping& grouping,
    std::span<const GroupId> groups_with_ops) const {
  for (std::size_t r = 0; r < roles.size(); ++r) {
    if (roles[r]) continue;
    const Role role{static_cast<std::uint8_t>(r)};
    const GroupId group = group_with(role, strategy, graph, grouping, ops, groups_with_ops);
    if (group.valid()) return std::pair(role, group);
  }
  return std::nullopt;
}

bool BoundConstraint::is_kept_by(const Strategy& strategy, const Graph& graph,
                                 const Grouping& grouping,
                                 std::span<const GroupId> groups_with_ops) const {
  if (role_taken(strategy, graph, grouping, groups_with_ops)) return false;
  DeviceMask used(allowed.size(), 0);
  for (const GroupId group : groups_with_ops) {
    const Decision& decision = *strategy.groups[group];
    if (!allows(decision) || (kind == Kind::Pin && reduced(decision) != pinned)) return false;
    if (kind == Kind::Together &&
        reduced(decision) != reduced(*strategy.groups[groups_with_ops.front()]))
      return false;
    mark_devices(decision.devices, used);
  }
  for (const OpSplit& split : strategy.splits) {
    if (!has(split.op)) continue;
    if (kind == Kind::Pin || kind == Kind::Together || !stays_within(split.parts, allowed))
      return false;
    mark_devices(split.parts, used);
  }
  for (const VariableSync& variable : strategy.variables) {
    if (!has(variable.update)) continue;
    if (!stays_within(variable, allowed, modes)) return false;
    mark_devices(variable, used);
  }
  return kind != Kind::Limit || static_cast<std::size_t>(std::ranges::count(used, 1)) <= most;
}

namespace {

// Finds for every rule a device that counts in all of its limits, depth first: those with the
// fewest choices first, and what is counted already where that serves. Then fills up what limits
// leave. Complete but for its patience: limits that overlap are looked at together.
class LimitKeeper {
 public:
  LimitKeeper(std::span<const DeviceLimit> limits, std::span<const DeviceId> preference,
              std::span<const ConstraintRule> rules, std::size_t patience)
      : limits_(limits),
        preference_(preference),
        rules_(rules),
        patience_(patience),
        limits_of_(rules.size()) {
    for (const ConstraintRule& rule : rules) allowed_.push_back(rule.allowed);
    for (std::size_t l = 0; l < limits.size(); ++l) {
      chosen_.emplace_back(preference.size(), 0);
      counts_.push_back(0);
      for (const std::size_t rule : limits[l].rules) limits_of_[rule].push_back(l);
    }
  }

  FoundLimitDevices find() {
    if (!count_pinned() || !serve_all()) return {std::nullopt, looked_ > patience_};
    for (std::size_t l = 0; l < limits_.size(); ++l) fill(l);
    return {std::move(chosen_), false};
  }

 private:
  bool count_pinned() {
    for (std::size_t r = 0; r < rules_.size(); ++r) {
      if (!rules_[r].pinned) continue;
      for (const DeviceShare& share : rules_[r].pinned->devices) count(r, share.device);
    }
    for (std::size_t l = 0; l < limits_.size(); ++l)
      if (counts_[l] > limits_[l].most) return false;
    return true;
  }

  // In all limits of the rule; returns those where it did not count before.
  std::vector<std::size_t> count(std::size_t rule, DeviceId device) {
    std::vector<std::size_t> fresh;
    for (const std::size_t l : limits_of_[rule]) {
      if (std::exchange(chosen_[l][device], 1)) continue;
      ++counts_[l];
      fresh.push_back(l);
    }
    return fresh;
  }

  void take_back(const std::vector<std::size_t>& limits, DeviceId device) {
    for (const std::size_t l : limits) {
      chosen_[l][device] = 0;
      --counts_[l];
    }
  }

  bool is_served(std::size_t rule) const {
    if (rules_[rule].pinned || limits_of_[rule].empty()) return true;
    return std::ranges::any_of(preference_, [&](DeviceId device) {
      return allowed_[rule][device] != 0 &&
             std::ranges::all_of(limits_of_[rule],
                                 [&](std::size_t l) { return chosen_[l][device] != 0; });
    });
  }

  std::vector<DeviceId> choices_of(std::size_t rule) const {
    std::vector<DeviceId> choices;
    for (const DeviceId device : preference_) {
      if (!allowed_[rule][device]) continue;
      const bool has_room = std::ranges::all_of(limits_of_[rule], [&](std::size_t l) {
        return chosen_[l][device] != 0 || counts_[l] < limits_[l].most;
      });
      if (has_room) choices.push_back(device);
    }
    return choices;
  }

  bool serve_all() {
    looked_ += rules_.size() * preference_.size() * limits_.size();
    if (looked_ > patience_) return false;
    std::size_t neediest = rules_.size();
    std::vector<DeviceId> choices;
    for (std::size_t r = 0; r < rules_.size(); ++r) {
      if (is_served(r)) continue;
      std::vector<DeviceId> own = choices_of(r);
      if (neediest != rules_.size() && own.size() >= choices.size()) continue;
      neediest = r;
      choices = std::move(own);
    }
    if (neediest == rules_.size()) return true;
    for (const DeviceId device : choices) {
      const std::vector<std::size_t> fresh = count(neediest, device);
      if (serve_all()) return true;
      take_back(fresh, device);
    }
    return false;
  }

  // Chooses as many devices as the limit allows, where they are of use; its rules have no others
  // then.
  void fill(std::size_t number) {
    const DeviceLimit& limit = limits_[number];
    DeviceMask& chosen = chosen_[number];
    for (const DeviceId device : preference_) {
      if (counts_[number] == limit.most) break;
      const bool useful =
          std::ranges::any_of(limit.rules, [&](std::size_t r) { return allowed_[r][device] != 0; });
      if (useful && !std::exchange(chosen[device], 1)) ++counts_[number];
    }
    for (const std::size_t r : limit.rules) keep_only(allowed_[r], chosen);
  }

  std::span<const DeviceLimit> limits_;
  std::span<const DeviceId> preference_;
  std::span<const ConstraintRule> rules_;
  const std::size_t patience_;
  std::vector<DeviceMask> allowed_;  // by rule; without what other limits have taken
  std::vector<std::vector<std::size_t>> limits_of_;  // by rule
  LimitDevices chosen_;
  std::vector<std::size_t> counts_;  // by limit: devices in `chosen_`
  std::size_t looked_ = 0;
};

}  // namespace

FoundLimitDevices find_limit_devices(std::span<const DeviceLimit> limits,
                                     std::span<const DeviceId> preference,
                                     std::span<const ConstraintRule> rules, std::size_t patience) {
  return LimitKeeper(limits, preference, rules, patience).find();
}

void keep_to(const LimitDevices& devices, std::span<const DeviceLimit> limits,
             std::vector<ConstraintRule>& rules) {
  for (std::size_t l = 0; l < limits.size(); ++l)
    for (const std::size_t r : limits[l].rules) keep_only(rules[r].allowed, devices[l]);
}

}  // namespace strato
