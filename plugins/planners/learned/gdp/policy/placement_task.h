// A graph on a cluster as GDP's policy is asked to place it, and what has been found of it so far;
// and the search of it, round by round, that the planners of this plugin have in common.
//
// Refers to the problem and the evaluator. One thread, but for what the evaluator does.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <stop_token>
#include <utility>
#include <vector>

#include "core/search/api/planner.h"
#include "plugins/planners/learned/gdp/policy/network.h"

namespace strato::gdp {

struct PlacementOptions {
  Colocate colocate = Colocate::Gradients;
  // A unit may also be told to run on all devices, each with a part of the batch (beyond the
  // paper, which places whole ops).
  bool replicate = true;
  int neighbours = 5;
  // Placements that differ in names of equal devices only are the same; not where constraints name
  // devices.
  bool interchangeable = true;
  bool paper = false;  // what does not fit is rewarded with -10, however little is missing
};

using Placement = std::vector<std::int32_t>;  // choice by unit

class PlacementTask {
 public:
  PlacementTask(const Problem& problem, Evaluator& evaluator, const PlacementOptions& options);

  const GraphFeatures& features() const { return features_; }
  const Units& units() const { return units_; }
  const std::vector<Decision>& choices() const { return choices_; }
  Strategy strategy(const Placement& placement) const;
  // By unit: the op group of its leader.
  const std::vector<std::int32_t>& group_of() const { return group_of_; }

  // The same placement with the devices of each device group, and device groups that are alike, in
  // the order in which units first use them: one of all placements that differ only in names. As it
  // is where they are not interchangeable.
  Placement canonical(const Placement& placement) const;

  // Returns what is known before anything is learned: every unit on one device, on all, and where a
  // person would put it (core/schedule/dag/layers.h).
  std::vector<Placement> known_placements() const;

  // The same as choices of units, where each unit's decision is one; nothing where one is not.
  std::optional<Placement> placement_of(const Strategy& strategy) const;

  // Tells whether nobody has claimed or evaluated this placement before, but for names of equal
  // devices.
  bool claim(const Placement& placement);
  // Scores, counted; the best is kept. Calls `found` whenever it changes.
  std::vector<Score> evaluate(const std::vector<Placement>& placements);
  std::function<void(const Strategy&, const Score&)> found;
  // Minus the root of the time over the best known placement's (GDP 4.1); what does not fit has
  // less by 1 and by what is missing. Known placements have to be evaluated first.
  double reward(const Score& score) const;

  const std::optional<Score>& best_score() const { return best_score_; }
  const Placement& best() const { return best_; }
  const Strategy& best_strategy() const { return best_strategy_; }
  std::int64_t evaluations() const { return evaluations_; }

  // A placement to be tried in the next round; or empty.
  Placement promising;

  // Mean reward of all trials so far (the paper's baseline of advantages).
  double mean_reward() const { return trials_ == 0 ? 0 : sum_of_rewards_ / trials_; }
  void count_reward(double reward) { sum_of_rewards_ += reward, ++trials_; }

 private:
  const Problem& problem_;
  Evaluator& evaluator_;
  const PlacementOptions options_;
  const Dag dag_;
  const Units units_;
  const std::vector<Decision> choices_;
  const std::vector<std::size_t> alike_;  // by device group: the first that it is like
  const GraphFeatures features_;
  std::vector<std::int32_t> group_of_;
  double capacity_ = 1;              // of all devices, bytes
  std::optional<double> reference_;  // seconds
  Placement best_;
  Strategy best_strategy_;
  std::optional<Score> best_score_;
  std::int64_t evaluations_ = 0;
  std::set<Digest> claimed_;  // of canonical placements
  double sum_of_rewards_ = 0;
  int trials_ = 0;
};

// Options of the planners that place whole ops (hdp, placeto): with parameters' units, each on one
// device, unless told otherwise.
struct WholeOpOptions {
  PlacementOptions placement{.colocate = Colocate::Parameters, .replicate = false};
  OptionTable option_table();
};

// A placement task that is searched within a budget, from what is known before anything is learned,
// and the curves of the policy that learns meanwhile. Refers to all that it is given.
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
