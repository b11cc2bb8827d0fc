// Proximal policy optimisation of placements (GDP 3 and 6.1): rounds of drawing placements from the
// policy, evaluating them, and improving the policy on them.
//
// Beyond the paper, which draws every op on its own and learns from whole placements:
// - The Gumbel noise that a drawing adds to the logarithms of the probabilities is shared by the
//   units of a block (an op group, or a run of units in graph order; blocks change from trial to
//   trial). Each unit's own probabilities stay what they are, so Equation 4 and PPO's ratios hold;
//   but neighbours go to a device together, and large graphs are not cut everywhere.
// - Half of the trials change the best placement so far: one block is drawn, the others are given.
//   Only the drawn units learn from it, and their advantage is against the best placement: much
//   less noise than when all units change at once. The changes of one round that are better are
//   tried together in the next.
// - Nothing is tried twice: what was tried already is drawn again, as from a policy that is less
//   sure of itself. Without this the more a policy has learned the more it tries what it knows.
// - Changes begin from the best placement with its devices in the canonical order, which is the one
//   that the policy knows.
// - The best placement so far is also a model answer, learned by imitation: of those that differ
//   only in the names of equal devices, always the same one.
// The paper's variant does none of these, and takes the running mean of rewards as its baseline.
#pragma once

#include <cstdint>

#include "core/base/random.h"
#include "plugins/planners/learned/gdp/policy/placement_task.h"

namespace strato::gdp {

struct PpoOptions {
  int rollouts = 32, minibatches = 2, epochs = 2;
  LearnOptions learn = {};
  double changes = 0.5;  // part of the trials that change the best placement
  bool paper = false;
  static PpoOptions of_paper();  // GDP table 4
};

struct RoundReport {
  double mean_reward = 0;  // of the placements that were drawn whole
  double entropy = 0;
  int trials = 0;
};

// One placement drawn; `block`: by unit, whose noise is shared. `heat` above 1: as if the policy's
// probabilities were nearer to each other.
Placement draw(const Probabilities& policy, std::span<const std::int32_t> block, Random& random,
               double heat = 1);
// The most probable choice of each unit, or of each block: that with the largest sum of logarithms.
Placement greedy(const Probabilities& policy);
Placement greedy(const Probabilities& policy, std::span<const std::int32_t> block);
// Returns what the policy says without chance: greedy by unit, by op group, and one choice for all.
// Units decide on their own, and where two choices are nearly as good the first of these goes back
// and forth between them.
std::vector<Placement> answers(const Probabilities& policy, const PlacementTask& task);

// A round's trials, to be learned from.
struct Round {
  std::vector<RollOut> tried;
  RoundReport report;
  Random random;  // the round's own
};

// A round of at most `most` evaluations: those of a round with less are its first. Deterministic in
// (network, task, round, seed), and so is learning from it.
Round try_round(const Network& network, PlacementTask& task, const PpoOptions& options,
                std::int64_t round, std::uint64_t seed, std::int64_t most);
void learn(Network& network, const PlacementTask& task, Round round, const PpoOptions& options);

}  // namespace strato::gdp
