#include "views/models/constraint_edits.h"

#include <algorithm>
#include <set>

#include "views/models/strategy_edits.h"

namespace strato {
namespace {

bool are_all_of(const Constraints::Forbid& forbid, const DeviceGroup& group,
                const Cluster& cluster) {
  return std::ranges::all_of(group.devices, [&](DeviceId device) {
    return std::ranges::any_of(forbid.devices, [&](const std::string& name) {
      return name == "all" || name == group.name || name == cluster.device(device).name;
    });
  });
}

template <class List>
void erase_numbers(List& list, std::size_t first, std::span<const std::size_t> numbers) {
  List left;
  for (std::size_t i = 0; i < list.size(); ++i)
    if (std::ranges::find(numbers, first + i) == numbers.end()) left.push_back(list[i]);
  list = std::move(left);
}

// What one of describe() does to the group, by its number.
void take_in(GroupConstraints& group, std::size_t number, const Constraints& all,
             const Cluster& cluster) {
  if (number < all.pins.size()) {
    group.pinned = true;
    return;
  }
  number -= all.pins.size();
  if (number < all.forbidden.size()) {
    const Constraints::Forbid& forbid = all.forbidden[number];
    group.forbids_mode |= !forbid.modes.empty();
    group.forbids_role |= !forbid.roles.empty();
    for (std::size_t g = 0; g < cluster.groups().size(); ++g)
      group.forbidden[g] |= are_all_of(forbid, cluster.groups()[DeviceGroupId(g)], cluster);
    return;
  }
  number -= all.forbidden.size();
  (number < all.together.size() ? group.together : group.limited) = true;
}

}  // namespace

ConstrainedOps constrained_ops(GroupId group, const Problem& problem) {
  ConstrainedOps of{problem.grouping->group(group).name, {}};
  for (const OpId op : problem.grouping->group(group).ops)
    of.ops.push_back(problem.graph->op(op).name);
  return of;
}

Constraints with_pins(const Constraints& constraints, std::span<const GroupId> groups,
                      const Snapshot& snapshot) {
  Constraints result = constraints;
  const Cluster& cluster = *snapshot.problem->cluster;
  for (const GroupId group : groups) {
    const auto& decision = snapshot.strategy.groups[group];
    if (!decision) continue;
    Constraints::Pin pin{
        constrained_ops(group, *snapshot.problem), decision->mode, {}, decision->roles};
    for (const DeviceShare& share : decision->devices)
      pin.devices.emplace_back(cluster.device(share.device).name, share.weight);
    std::erase_if(result.pins, [&](const Constraints::Pin& other) { return other.of == pin.of; });
    result.pins.push_back(std::move(pin));
  }
  return result;
}

Constraints with_forbidden(const Constraints& constraints, std::span<const GroupId> groups,
                           DeviceGroupId device_group, const Problem& problem) {
  Constraints result = constraints;
  const std::string& name = problem.cluster->groups()[device_group].name;
  for (const GroupId group : groups) {
    const ConstrainedOps of = constrained_ops(group, problem);
    const auto known = std::ranges::find_if(result.forbidden, [&](const auto& forbid) {
      return forbid.of == of && forbid.modes.empty() && forbid.roles.empty();
    });
    if (known == result.forbidden.end()) {
      result.forbidden.push_back({of, {name}, {}, {}});
    } else if (std::ranges::find(known->devices, name) == known->devices.end()) {
      known->devices.push_back(name);
    }
  }
  return result;
}

Constraints with_role_forbidden(const Constraints& constraints, std::span<const GroupId> groups,
                                Role role, const Problem& problem) {
  Constraints::Forbid forbid{{"*", {}}, {}, {}, {role}};
  if (groups.size() < problem.grouping->size()) {
    forbid.of.name = names_of(groups, *problem.grouping).toStdString();
    for (const GroupId group : groups)
      for (const OpId op : problem.grouping->group(group).ops)
        forbid.of.ops.push_back(problem.graph->op(op).name);
  }
  Constraints result = constraints;
  if (std::ranges::find(result.forbidden, forbid) == result.forbidden.end())
    result.forbidden.push_back(std::move(forbid));
  return result;
}

std::vector<std::size_t> forbidding(const Constraints& constraints,
                                    std::span<const std::size_t> numbers, Role role) {
  std::vector<std::size_t> found;
  for (const std::size_t number : numbers) {
    const std::size_t place = number - constraints.pins.size();
    if (number < constraints.pins.size() || place >= constraints.forbidden.size()) continue;
    const std::vector<Role>& roles = constraints.forbidden[place].roles;
    if (std::ranges::find(roles, role) != roles.end()) found.push_back(number);
  }
  return found;
}

Constraints with_role_allowed(const Constraints& constraints, std::span<const std::size_t> numbers,
                              Role role) {
  Constraints result = constraints;
  for (const std::size_t number : forbidding(constraints, numbers, role))
    std::erase(result.forbidden[number - constraints.pins.size()].roles, role);
  std::erase_if(result.forbidden, [](const Constraints::Forbid& forbid) {
    return forbid.devices.empty() && forbid.modes.empty() && forbid.roles.empty();
  });
  return result;
}

Constraints with_together(const Constraints& constraints, std::span<const GroupId> groups,
                          const Problem& problem) {
  Constraints result = constraints;
  Constraints::Together together;
  for (const GroupId group : groups) together.of.push_back(constrained_ops(group, problem));
  const bool known = std::ranges::find(result.together, together) != result.together.end();
  if (together.of.size() > 1 && !known) result.together.push_back(std::move(together));
  return result;
}

Constraints with_limit(const Constraints& constraints, std::int64_t devices) {
  Constraints result = constraints;
  std::erase_if(result.limits, [](const Constraints::Limit& limit) {
    return limit.of == Constraints::Limit().of;
  });
  if (devices > 0) result.limits.push_back({{"*", {}}, devices});
  return result;
}

Constraints without(const Constraints& constraints, std::span<const std::size_t> numbers) {
  Constraints result = constraints;
  std::size_t first = 0;
  const auto erase = [&](auto& list) {
    const std::size_t count = list.size();
    erase_numbers(list, first, numbers);
    first += count;
  };
  erase(result.pins);
  erase(result.forbidden);
  erase(result.together);
  erase(result.limits);
  return result;
}

std::vector<GroupConstraints> constraints_by_group(const Session& session) {
  const auto& bound = session.bound_constraints();
  const Snapshot& snapshot = session.snapshot();
  if (!bound || !snapshot.problem) return {};
  const Problem& problem = *snapshot.problem;
  const std::vector<std::string> lines = describe(*session.constraints());
  std::vector<std::size_t> violated;
  if (snapshot.strategy.is_complete()) violated = bound->violated(snapshot.strategy);
  std::vector<GroupConstraints> result(problem.grouping->size());
  for (std::size_t g = 0; g < result.size(); ++g) {
    GroupConstraints& group = result[g];
    group.forbidden.assign(problem.cluster->groups().size(), 0);
    group.numbers = bound->concerning(GroupId(g), *problem.grouping);
    for (const std::size_t number : group.numbers) {
      take_in(group, number, *session.constraints(), *problem.cluster);
      const bool broken = std::ranges::binary_search(violated, number);
      group.violated |= broken;
      const QString line = QString::fromStdString(lines[number]);
      group.lines << (broken ? Session::tr("%1 (not kept)").arg(line) : line);
    }
  }
  return result;
}

std::vector<std::size_t> concerning(std::span<const GroupId> groups, const Session& session) {
  const auto& bound = session.bound_constraints();
  if (!bound) return {};
  std::set<std::size_t> numbers;
  for (const GroupId group : groups) {
    const auto more = bound->concerning(group, *session.snapshot().problem->grouping);
    numbers.insert(more.begin(), more.end());
  }
  return {numbers.begin(), numbers.end()};
}

}  // namespace strato
