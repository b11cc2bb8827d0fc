#include <algorithm>

#include "plugins/planners/learned/gdp/policy/placement_task.h"

namespace strato::gdp {

OptionTable WholeOpOptions::option_table() {
  return {{"replicate", placement.replicate, "a unit may run on all devices, not only on one"},
          {"colocate",
           placement.colocate,
           {"parameters", "gradients"},
           "parameters: what reads a parameter and its update stay together; gradients: and "
           "backward ops with their forward ops"}};
}

PlacementSearch::PlacementSearch(const Problem& problem, Evaluator& evaluator,
                                 const PlacementOptions& placing, const PlannerOptions& options,
                                 Observer& observer, std::stop_token stop)
    : task(problem, evaluator, placing),
      options_(options),
      stop_(std::move(stop)),
      reporter_(observer) {
  task.found = [this](const Strategy& strategy, const Score&) {
    reporter_.improvement(strategy, progress());
  };
  task.evaluate(task.known_placements());
  std::vector<Placement> placements;
  for (const Strategy& given : options.seeds) {
    const Strategy strategy = complete(given, *problem.cluster);
    if (auto placement = task.placement_of(strategy)) placements.push_back(*std::move(placement));
    const Score score = evaluator.evaluate(strategy);
    if (best_start_ && !score.better_than(start_score_)) continue;
    best_start_ = strategy;
    start_score_ = score;
  }
  if (!placements.empty()) task.evaluate(placements);
}

std::int64_t PlacementSearch::left() const {
  if (stop_.stop_requested()) return 0;
  if (options_.budget_seconds > 0)
    return reporter_.elapsed() < options_.budget_seconds ? std::int64_t{1} << 40 : 0;
  return std::max<std::int64_t>(0, options_.iterations - task.evaluations());
}

Progress PlacementSearch::progress() const {
  return {task.evaluations(), task.evaluations(), reporter_.elapsed(), task.best_score()};
}

void PlacementSearch::end_round(double mean_reward, double entropy) {
  const auto evaluations = static_cast<double>(task.evaluations());
  mean_.emplace_back(evaluations, mean_reward);
  best_.emplace_back(evaluations, task.reward(*task.best_score()));
  entropy_.emplace_back(evaluations, entropy);
  reporter_.progress(progress(), false);
}

PlanResult PlacementSearch::finish() {
  reporter_.progress(progress(), true);
  PlanResult result;
  const bool start = best_start_ && start_score_.better_than(*task.best_score());
  result.strategy = start ? *best_start_ : task.best_strategy();
  result.score = start ? start_score_ : *task.best_score();
  result.evaluations = task.evaluations();
  if (!mean_.empty())
    result.curves = {{"Reward", "Mean of a round", "Evaluations", "Reward", mean_},
                     {"Reward", "Best so far", "Evaluations", "Reward", best_},
                     {"Entropy of the policy", "Entropy", "Evaluations", "Nats a unit", entropy_}};
  return result;
}

}  // namespace strato::gdp
