// What a person's demands mean, as pure functions: constraints in, constraints out; and what there
// is to see of them, group by group. Groups are those of `snapshot`'s problem; their ops are listed
// by name, so that the constraints hold in other groups, too.
#pragma once

#include <QStringList>
#include <cstdint>
#include <span>
#include <vector>

#include "core/search/constraints/bound_constraints.h"
#include "views/models/session.h"

namespace strato {

ConstrainedOps constrained_ops(GroupId group, const Problem& problem);

// Every group keeps the decision that it has; of a group that is pinned already, the one of now.
Constraints with_pins(const Constraints& constraints, std::span<const GroupId> groups,
                      const Snapshot& snapshot);
// None of the device group's devices are for the groups.
Constraints with_forbidden(const Constraints& constraints, std::span<const GroupId> groups,
                           DeviceGroupId device_group, const Problem& problem);
// The role is not for the groups, all of them together: so a pipeline has them in one stage. All
// groups that there are: every op.
Constraints with_role_forbidden(const Constraints& constraints, std::span<const GroupId> groups,
                                Role role, const Problem& problem);
// Those with these numbers (in describe()) do not forbid the role any more.
Constraints with_role_allowed(const Constraints& constraints, std::span<const std::size_t> numbers,
                              Role role);
// Those of these numbers that forbid the role.
std::vector<std::size_t> forbidding(const Constraints& constraints,
                                    std::span<const std::size_t> numbers, Role role);
Constraints with_together(const Constraints& constraints, std::span<const GroupId> groups,
                          const Problem& problem);
Constraints with_limit(const Constraints& constraints, std::int64_t devices);
// Without those whose numbers (in describe()) are listed.
Constraints without(const Constraints& constraints, std::span<const std::size_t> numbers);

// What concerns one group.
struct GroupConstraints {
  std::vector<std::size_t> numbers;  // in describe()
  bool pinned = false, together = false, limited = false;
  std::vector<char> forbidden;  // by device group: all of its devices are
  bool forbids_mode = false, forbids_role = false;
  bool violated = false;  // by the strategy shown
  QStringList lines;      // in words; those that are not kept say so
};
// By group; empty without constraints.
std::vector<GroupConstraints> constraints_by_group(const Session& session);

// Those that concern any of the groups, ascending.
std::vector<std::size_t> concerning(std::span<const GroupId> groups, const Session& session);

}  // namespace strato
