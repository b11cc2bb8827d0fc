// The warm starts of a search: strategies that its caller knows (PlannerOptions::seeds).
#pragma once

#include <optional>
#include <vector>

#include "core/search/api/planner.h"
#include "plugins/planners/learned/gdp/policy/placement_task.h"

namespace strato::gdp {

// Those that the task's choices can say are placements to begin from, and the best of them all is
// never lost.
class WarmStarts {
 public:
  // Evaluates them, after the known placements.
  WarmStarts(const Problem& problem, PlacementTask& task, Evaluator& evaluator,
             const std::vector<Strategy>& known);
  // The best of the task or of these, without note and facts.
  PlanResult result_of(const PlacementTask& task) const;

 private:
  std::optional<Strategy> best_;
  Score score_;
};

}  // namespace strato::gdp
