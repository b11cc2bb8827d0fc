#include "plugins/planners/gdp/planner_options.h"

#include <fmt/format.h>

#include "core/base/error.h"

namespace strato::gdp {

int whole_option(const PlannerOptions& given, const std::string& key, int fallback, int most) {
  const std::int64_t value = given.integer(key, fallback);
  if (value >= 1 && value <= most) return static_cast<int>(value);
  throw InputError("", fmt::format("--set {}={}", key, value), "the value is out of range",
                   fmt::format("give a whole number from 1 to {}", most));
}

double number_option(const PlannerOptions& given, const std::string& key, double fallback,
                     double most) {
  const double value = given.number(key, fallback);
  if (value >= 0 && value <= most) return value;
  throw InputError("", fmt::format("--set {}={}", key, given.text(key, "")),
                   "the value is out of range", fmt::format("give a number from 0 to {}", most));
}

Colocate colocate_from(const PlannerOptions& given, const std::string& fallback) {
  const bool parameters =
      given.choice("colocate", fallback, {"parameters", "gradients"}) == "parameters";
  return parameters ? Colocate::Parameters : Colocate::Gradients;
}

PlacementOptions whole_op_placement(const PlannerOptions& given) {
  PlacementOptions options;
  options.replicate = given.boolean("replicate", false);
  options.colocate = colocate_from(given, "parameters");
  return options;
}

std::vector<OptionHelp> with_whole_op_help(std::vector<OptionHelp> own) {
  own.push_back({"replicate", "false", "a unit may run on all devices, not only on one"});
  own.push_back({"colocate", "parameters",
                 "parameters: what reads a parameter and its update stay together; gradients: and "
                 "backward ops with their forward ops"});
  return own;
}

Budget::Budget(PlacementTask& task, const PlannerOptions& options, Observer& observer,
               std::stop_token stop)
    : task_(task), options_(options), stop_(std::move(stop)), reporter_(observer) {
  task_.found = [this](const Strategy& strategy, const Score&) {
    reporter_.improvement(strategy, progress());
  };
}

std::int64_t Budget::left() const {
  if (stop_.stop_requested()) return 0;
  if (options_.budget_seconds > 0)
    return reporter_.elapsed() < options_.budget_seconds ? std::int64_t{1} << 40 : 0;
  return std::max<std::int64_t>(0, options_.iterations - task_.evaluations());
}

void Budget::report(bool last) { reporter_.progress(progress(), last); }

Progress Budget::progress() const {
  return {task_.evaluations(), task_.evaluations(), reporter_.elapsed(), task_.best_score()};
}

Starts::Starts(const Problem& problem, PlacementTask& task, Evaluator& evaluator,
               const std::vector<Strategy>& known) {
  std::vector<Placement> placements;
  for (const Strategy& given : known) {
    const Strategy strategy = complete(given, *problem.cluster);
    if (auto placement = task.placement_of(strategy)) placements.push_back(*std::move(placement));
    const Score score = evaluator.evaluate(strategy);
    if (best_ && !score.better_than(score_)) continue;
    best_ = strategy;
    score_ = score;
  }
  if (!placements.empty()) task.evaluate(placements);
}

PlanResult Starts::result_of(const PlacementTask& task) const {
  PlanResult result;
  const bool start = best_ && score_.better_than(*task.best_score());
  result.strategy = start ? *best_ : task.best_strategy();
  result.score = start ? score_ : *task.best_score();
  result.evaluations = task.evaluations();
  return result;
}

}  // namespace strato::gdp
