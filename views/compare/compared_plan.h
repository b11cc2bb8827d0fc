// One side of a comparison: a plan, and what was simulated of it. A value.
#pragma once

#include <QString>
#include <memory>
#include <optional>

#include "core/search/evaluate/outcome.h"
#include "views/models/second_plan.h"
#include "views/models/session.h"

namespace strato {

struct ComparedPlan {
  QString label;
  std::shared_ptr<const Problem> problem;  // in the groups of the strategy
  Strategy strategy;
  std::shared_ptr<const Outcome> outcome;
};

// What the session shows; nothing before it is simulated.
inline std::optional<ComparedPlan> compared(const Snapshot& shown) {
  if (!shown.problem || !shown.outcome) return std::nullopt;
  return ComparedPlan{shown.label, shown.problem, shown.strategy, shown.outcome};
}
inline ComparedPlan compared(const OtherPlan& plan) {
  return {plan.label, plan.problem, plan.strategy, plan.outcome};
}

}  // namespace strato
