// The budget of a search: the evaluations that are left, and reports to its observer.
#pragma once

#include <cstdint>
#include <stop_token>

#include "core/search/api/reporter.h"
#include "plugins/planners/learned/gdp/policy/placement_task.h"

namespace strato::gdp {

// Refers to all that it is given.
class SearchBudget {
 public:
  SearchBudget(PlacementTask& task, const PlannerOptions& options, Observer& observer,
               std::stop_token stop);
  // Evaluations; 0 when it is over.
  std::int64_t left() const;
  void report(bool last);

 private:
  Progress progress() const;

  PlacementTask& task_;
  const PlannerOptions& options_;
  const std::stop_token stop_;
  Reporter reporter_;
};

}  // namespace strato::gdp
