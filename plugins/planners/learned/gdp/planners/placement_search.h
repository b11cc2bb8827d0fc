// What the planners of this plugin have in common: a placement task that is searched round by round
// within a budget, from what is known before anything is learned, and the curves of the policy that
// learns meanwhile.
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <utility>
#include <vector>

#include "core/search/api/option_table.h"
#include "core/search/api/planner.h"
#include "plugins/planners/learned/gdp/policy/placement_task.h"

namespace strato::gdp {

// Options of the planners that place whole ops (hdp, placeto): with parameters' units, each on one
// device, unless told otherwise.
struct WholeOpOptions {
  PlacementOptions placement{.colocate = Colocate::Parameters, .replicate = false};
  OptionTable option_table();
};

// Refers to all that it is given.
class PlacementSearch {
 public:
  // Evaluates the known placements, then the warm starts (PlannerOptions::seeds): those that the
  // task's choices can say are placements to begin from, and the best of them all is never lost.
  PlacementSearch(const Problem& problem, Evaluator& evaluator, const PlacementOptions& placing,
                  const PlannerOptions& options, Observer& observer, std::stop_token stop);

  PlacementTask task;

  // Evaluations that are left; 0 when it is over.
  std::int64_t left() const;
  // Of the round's placements the mean reward (PlacementTask::reward), and the policy's entropy
  // (nats a unit) before it was learned from.
  void end_round(double mean_reward, double entropy);
  // The best of the task or of the warm starts, with curves (none: there was no round), without
  // note and facts.
  PlanResult finish();

 private:
  using Points = std::vector<std::pair<double, double>>;
  Progress progress() const;

  const PlannerOptions& options_;
  const std::stop_token stop_;
  Reporter reporter_;
  std::optional<Strategy> best_start_;
  Score start_score_;
  Points mean_, best_, entropy_;  // over evaluations
};

}  // namespace strato::gdp
