// Replicas that update and keep a part of every parameter and of its optimizer state each (ZeRO:
// Rajbhandari, Rasley, Ruwase, He 2020, "ZeRO: memory optimizations toward training trillion
// parameter models", section 5).
#pragma once

#include "core/search/api/problem.h"
#include "core/strategy/value/strategy.h"

namespace strato {

// In each group that all-reduces its gradients; nothing where that means nothing.
void share_states(Strategy& strategy, const StateSharding& states);

// Of parameters that are kept in parts, and of all.
struct SharedParameters {
  std::size_t count = 0;
  Bytes parts, all;
};
// The strategy has a decision for each group.
SharedParameters shared_parameters(const Problem& problem, const Strategy& strategy);

}  // namespace strato
