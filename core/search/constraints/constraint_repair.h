// Makes of a strategy that does not keep to constraints the nearest one that does.
#pragma once

#include <memory>
#include <vector>

#include "core/search/constraints/constraint_rules.h"
#include "core/search/constraints/device_limits.h"

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

}  // namespace strato
