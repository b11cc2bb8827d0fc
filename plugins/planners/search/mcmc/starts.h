// The strategies from which chains start: those that exist, and random ones (Jia et al. 2018,
// section 6.2).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/search/api/problem.h"

namespace strato::mcmc {

struct Start {
  std::string name;
  Strategy strategy;  // complete
  std::shared_ptr<const Grouping> groups;
};

// The problem's groups divided by layers (a forward op with its gradients and updates): FlexFlow's
// configuration per op.
std::shared_ptr<const Grouping> groups_by_layers(const Problem& problem);

// In `groups`: data parallelism first, the other simple baselines and other strategies with one
// configuration for all groups, the expert's placement, `random` strategies, then `seeds` (in the
// problem's groups, or in their own, which they keep).
std::vector<Start> make_starts(const Problem& problem, std::shared_ptr<const Grouping> groups,
                               const std::vector<Decision>& actions,
                               const std::vector<Strategy>& seeds, std::int64_t random,
                               std::uint64_t seed);

}  // namespace strato::mcmc
