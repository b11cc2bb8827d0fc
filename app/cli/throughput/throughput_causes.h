// What would make a step slower or faster than predicted, by how much: the same strategy simulated
// on a slower network, with slower clocks, without fused kernels, and so on.
#pragma once

#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "core/cost/value/calibration.h"
#include "core/search/api/problem.h"

namespace strato::cli {

struct ThroughputCause {
  std::string words;   // "the network between machines at half its bandwidth"
  double seconds = 0;  // of the step then
};

class ThroughputCauses {
 public:
  // `problem`: in the groups of the strategy, with costs by this calibration.
  ThroughputCauses(const Problem& problem, const Strategy& strategy,
                   const Calibration& calibration);

  double seconds() const { return seconds_; }  // as predicted
  // Those that change the step by more than a hundredth, largest first.
  std::vector<ThroughputCause> find(bool slower, const std::stop_token& stop) const;

 private:
  double simulated(const std::shared_ptr<const Cluster>& cluster, const Strategy& strategy,
                   const Calibration& calibration) const;

  const Problem& problem_;
  const Strategy& strategy_;
  const Calibration calibration_;
  double seconds_ = 0;
};

}  // namespace strato::cli
