// The strategies from which chains start: those that exist, and random ones (Jia et al. 2018,
// section 6.2).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/search/api/planner.h"
#include "core/search/api/problem.h"

namespace strato::mcmc {

struct Starts {
  std::vector<Strategy> strategies;  // complete
  std::size_t expert = 0;  // its place; those before it have one configuration for all groups
};

// The problem's groups divided by layers (a forward op with its gradients and updates): FlexFlow's
// configuration per op.
std::shared_ptr<const Grouping> groups_by_layers(const Problem& problem);

// In `groups`: data parallelism first, the other simple baselines and other strategies with one
// configuration for all groups, the expert's placement, `random` strategies, then the options'
// seeds (in the problem's groups, or in their own, which they keep).
Starts make_starts(const Problem& problem, const std::shared_ptr<const Grouping>& groups,
                   const std::vector<Decision>& actions, const PlannerOptions& options,
                   std::int64_t random);

}  // namespace strato::mcmc
