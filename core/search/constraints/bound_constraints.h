// Constraints on one problem: which strategies keep to them, and what becomes of those that do not.
//
// Immutable; safe from several threads. Strategies with groups of their own are held to the same
// ops: where a group has ops that are constrained otherwise than the rest of it, it is divided. In
// the problem's groups a constraint on some ops of a group is one on the decision of the whole
// group; what single ops have (split, computed again) only those lose that it is about.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/search/api/problem.h"
#include "core/search/constraints/constraint_rules.h"
#include "core/search/constraints/constraints.h"

namespace strato {

class BoundConstraints {
 public:
  // Throws InputError for names that the problem does not have, and for constraints that no
  // strategy in its groups can keep: it names those that contradict each other.
  BoundConstraints(const Constraints& constraints, const Problem& problem);

  // The nearest strategy that keeps to them, complete and valid when `strategy` is. What keeps to
  // them already is returned as it is. Groups lose the devices that are not for them, and move when
  // none is left; of too many devices the most used stay; groups that belong together are decided
  // as the one of them with most compute time; single variables, split ops, that contradict are
  // left to what their group says; where a pipeline is not allowed, there is one micro-batch.
  Strategy repaired(const Strategy& strategy) const;
  // Returns those that it does not keep, as indices in describe(constraints), ascending.
  std::vector<std::size_t> violated(const Strategy& strategy) const;
  // Throws InputError with the first constraint that it does not keep, and the op group and what it
  // does.
  void check(const Strategy& strategy) const;

  // The decisions of the problem's own groups that are pinned; empty when none is.
  const IdVector<GroupId, std::optional<Decision>>& pins() const { return pins_; }
  // Returns the indices of describe(constraints) that concern the group of this grouping, which is
  // of the same graph.
  std::vector<std::size_t> concerning(GroupId group, const Grouping& grouping) const;

 private:
  std::string reason(std::size_t number, const Strategy& strategy) const;
  void take_roles(Strategy& strategy) const;
  void find_kinds();
  void combine(ConstraintRule& rule) const;
  ConstraintRules rules_for(const Grouping& grouping) const;
  std::vector<DeviceLimit> limits_of(const ConstraintRules& rules) const;
  void find_limits();
  bool has_own_groups(const Strategy& strategy) const;
  std::shared_ptr<const Grouping> divided(const std::shared_ptr<const Grouping>& grouping) const;

  Problem problem_;
  std::vector<Nanos> op_times_;
  std::vector<BoundConstraint> items_;
  IdVector<OpId, std::int32_t> kind_of_op_;  // by the constraints that are about it
  ConstraintRules rules_;                    // of the problem's groups
  // A choice of devices that keeps all limits, whatever the groups are. For the problem's groups it
  // was looked for. In any others, divided where their ops are constrained otherwise, what holds
  // for a group holds for the problem's groups with its ops, too: what serves these serves it.
  LimitDevices limit_devices_;
  IdVector<GroupId, std::optional<Decision>> pins_;
};

// The problem's constraints, or null when there are none to keep to.
std::unique_ptr<const BoundConstraints> bind_constraints(const Constraints* constraints,
                                                         const Problem& problem);

}  // namespace strato
