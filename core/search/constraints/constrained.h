// Holds to constraints what knows nothing of them: strategies, and planners: what these ask about
// is repaired before it is evaluated, so that they look for the best of what is allowed.
#pragma once

#include "core/search/api/planner.h"
#include "core/search/constraints/bound_constraints.h"

namespace strato {

// The demands, in the groups of the result.
struct RepairDemands {
  std::shared_ptr<const Grouping> grouping;  // the strategy's own, or one that divides its groups
  ConstraintRules rules;
  std::vector<DeviceLimit> limits;  // of the rules
  LimitDevices fallback;            // a choice of devices that keeps all limits
};

// Complete when `strategy` is; see BoundConstraints::repaired().
Strategy repair(const Strategy& strategy, const Problem& problem, RepairDemands demands);

// The planner's result under the constraints; null: there are none.
PlanResult plan_within(const BoundConstraints* constraints, Planner& planner,
                       const Problem& problem, Evaluator& evaluator, const PlannerOptions& options,
                       Observer& observer, std::stop_token stop,
                       std::shared_ptr<const SearchTree> resume);

}  // namespace strato
