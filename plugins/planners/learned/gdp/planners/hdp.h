// The planner "hdp": hierarchical device placement from nothing, which GDP measures itself against
// (Mirhoseini et al. 2018, "A hierarchical model for device placement"): a feed-forward network
// puts ops into groups, a sequence-to-sequence network with attention places group after group,
// both learned from nothing by REINFORCE.
//
// Sizes as in section 3 of that paper where it names them: 256 groups (here at most a quarter of
// the units), 64 hidden units of the grouper; the placer's LSTMs have 64 where the paper has 512,
// for two cores. On LibTorch, which stays in hdp.cpp. One thread.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "core/base/random.h"
#include "core/search/api/planner.h"
#include "plugins/planners/learned/gdp/policy/placement_task.h"

namespace strato::gdp {

// One placement drawn, with what it came from.
struct HdpDraw {
  std::vector<std::int32_t> group_of;   // by unit
  std::vector<std::int32_t> choice_of;  // by group
  Placement placement() const;          // choice by unit
};

class HdpModel {
 public:
  HdpModel(const GraphFeatures& graph, std::uint64_t seed);
  ~HdpModel();

  std::int32_t groups() const;
  std::vector<HdpDraw> draw(int count, Random& random) const;
  // One step of Adam along the sum of advantage times the logarithm of each draw's probability.
  // Returns the mean of minus these logarithms before it: an estimate of the policy's entropy,
  // nats. With a rate of 0 nothing moves.
  double learn(std::span<const HdpDraw> draws, std::span<const double> advantages, double rate);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

std::unique_ptr<Planner> make_hdp();

}  // namespace strato::gdp
