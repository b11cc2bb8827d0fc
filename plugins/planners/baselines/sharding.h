// What of a problem's parameters replicas keep in parts (core/strategy/value/state_sharding.h).
#pragma once

#include "core/search/api/problem.h"
#include "core/strategy/value/strategy.h"

namespace strato {

// Of parameters that are kept in parts, and of all.
struct SharedParameters {
  std::size_t count = 0;
  Bytes parts, all;
};
// The strategy has a decision for each group.
SharedParameters shared_parameters(const Problem& problem, const Strategy& strategy);

}  // namespace strato
