#include "plugins/planners/learned/gdp/policy/search_budget.h"

#include <algorithm>

namespace strato::gdp {

SearchBudget::SearchBudget(PlacementTask& task, const PlannerOptions& options, Observer& observer,
                           std::stop_token stop)
    : task_(task), options_(options), stop_(std::move(stop)), reporter_(observer) {
  task_.found = [this](const Strategy& strategy, const Score&) {
    reporter_.improvement(strategy, progress());
  };
}

std::int64_t SearchBudget::left() const {
  if (stop_.stop_requested()) return 0;
  if (options_.budget_seconds > 0)
    return reporter_.elapsed() < options_.budget_seconds ? std::int64_t{1} << 40 : 0;
  return std::max<std::int64_t>(0, options_.iterations - task_.evaluations());
}

void SearchBudget::report(bool last) { reporter_.progress(progress(), last); }

Progress SearchBudget::progress() const {
  return {task_.evaluations(), task_.evaluations(), reporter_.elapsed(), task_.best_score()};
}

}  // namespace strato::gdp
