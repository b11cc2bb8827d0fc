// The planner "placeto": Placeto, which GDP names as the only other method that generalises
// (section 4.3; Addanki et al. 2019, "Placeto: Learning generalizable device placement algorithms
// for distributed machine learning"): in an episode every group of ops is looked at once, in order,
// and may be moved; the policy sees where everything is and whose turn it is; the reward of a move
// is how much faster the step becomes by it.
//
// Groups are the problem's op groups: a unit with the most time decides for all units of its group.
// The network is GDP's with what is placed where among its inputs, where Placeto has a graph
// network of its own, and learns from clipped ratios as GDP does, not by plain REINFORCE.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "core/base/random.h"
#include "core/search/api/planner.h"
#include "plugins/planners/learned/gdp/policy/placement_task.h"

namespace strato::gdp {

struct PlacetoOptions {
  LearnOptions learn{.rate = 1e-3, .entropy = 0.02};
  int epochs = 1;         // times that an episode is learned from
  double discount = 0.9;  // of later rewards
};

struct Episode {
  struct Step {
    std::int32_t group = 0;   // of units
    Placement before;         // by unit
    std::int32_t choice = 0;  // that its units were told
    float logarithm = 0;      // of its probability
    double reward = 0;        // difference that the step made
  };
  std::vector<Step> steps;
  double entropy = 0;  // mean over steps, nats
  double reward = 0;   // of the placement that it ended with
};

class Placeto {
 public:
  // `task`: known placements have to be evaluated. Refers to both; the network's size is step-wise.
  Placeto(PlacementTask& task, Network& network, const PlacetoOptions& options);

  std::size_t groups() const { return units_.size(); }
  // From this placement on; asks before every evaluation (one for the start, one a move) whether to
  // go on.
  Episode play(const Placement& start, const std::function<bool()>& go_on, Random& random);
  // The mean discounted reward at the same turn of earlier episodes is the baseline.
  void learn(const Episode& episode);
  // Returns what the network is shown at a turn.
  GraphFeatures features(const Placement& placement, std::size_t turn) const;

 private:
  std::vector<double> advantages(const Episode& episode);

  PlacementTask& task_;
  Network& network_;
  const PlacetoOptions options_;
  std::vector<std::vector<std::int32_t>> units_;  // by group; the one that decides comes first
  std::vector<double> usual_;                     // by turn: sum of discounted rewards
  std::vector<int> times_;
};

std::unique_ptr<Planner> make_placeto();

}  // namespace strato::gdp
