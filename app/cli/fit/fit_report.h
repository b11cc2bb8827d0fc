// What `fit` says: what is in the memory of each kind of device at its peak, and what makes a
// strategy fit, for a person and for a script.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/cli/context.h"
#include "core/search/evaluate/outcome.h"
#include "core/search/fit/fitting_plans.h"

namespace strato::cli {

struct FitReport {
  Problem problem;  // in the groups of the strategy
  Outcome outcome;
  std::string planner;   // that made the strategy
  double allowance = 0;  // part of each device's memory that is left to allocator and libraries
  FittingPlans found;
  // What a planner finds where no small change fits.
  std::optional<PlanResult> anew;
  Bytes anew_peak;

  bool feasible() const { return outcome.timeline->feasible; }
};

Json fit_json(const FitReport& report, double wall_seconds);
std::string fit_text(const FitReport& report);

}  // namespace strato::cli
