// The curves of a policy that learns (PlanResult::curves): what its rounds earned, and how
// undecided it was.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/search/api/planner.h"

namespace strato::gdp {

class LearningCurve {
 public:
  // A round that ended after `evaluations`: the mean reward of its placements, the best reward so
  // far (PlacementTask::reward), and the policy's entropy (nats a unit) before it was learned from.
  void add_round(std::int64_t evaluations, double mean_reward, double best_reward,
                 std::optional<double> entropy);
  // One chart of rewards, and one of entropy where it is known; none: there was no round.
  std::vector<PlanResult::Curve> curves() const;

 private:
  using Points = std::vector<std::pair<double, double>>;
  Points mean_, best_, entropy_;
};

}  // namespace strato::gdp
