// A refiner goes over a planner's result and makes it better: "PLANNER+REFINER" on the command
// line.
#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "core/search/api/planner.h"

namespace strato {

class Refiner {
 public:
  virtual ~Refiner() = default;
  virtual std::string name() const = 0;
  virtual std::vector<OptionHelp> options() const { return {}; }
  // `planned` is complete and scored; the result is never worse. Stops soon after it is asked to.
  virtual PlanResult refine(const Problem& problem, Evaluator& evaluator, PlanResult planned,
                            const PlannerOptions& options, Observer& observer,
                            std::stop_token stop) = 0;
};

}  // namespace strato
