// Runs a planner under the rules of the house.
#pragma once

#include <memory>
#include <stop_token>

#include "core/search/api/planner.h"

namespace strato {

class BoundConstraints;  // core/search/constraints/bound_constraints.h

// Runs a planner under the house rules: never worse than the best simple baseline (dp-allreduce,
// dp-allreduce-proportional, dp-ps, single-device), and says so when a baseline won; evaluations
// counted and cached; what the observer is told is never worse than the baselines either. A key in
// options.set that the planner does not list is an InputError.
PlanResult run_planner(Planner& planner, const Problem& problem, const PlannerOptions& options,
                       Observer& observer, std::stop_token stop,
                       std::shared_ptr<const SearchTree> resume = nullptr);

// The planner's result under the constraints; null: there are none. What it asks about is repaired
// before it is evaluated, so that it looks for the best of what is allowed.
PlanResult plan_within(const BoundConstraints* constraints, Planner& planner,
                       const PlanRequest& request);

// Throws InputError for a key in options.set that the planner does not list.
void refuse_unknown_options(const Planner& planner, const PlannerOptions& options);

}  // namespace strato
