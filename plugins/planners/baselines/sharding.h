// Replicas that update and keep a part of every parameter and of its optimizer state each (ZeRO:
// Rajbhandari, Rasley, Ruwase, He 2020, "ZeRO: memory optimizations toward training trillion
// parameter models", section 5).
#pragma once

#include "core/search/api/problem.h"
#include "core/strategy/value/strategy.h"

namespace strato {

// The bytes of parameters that are kept in parts, and of all.
struct ParameterBytes {
  Bytes parts, all;
};

// Divides the updates of all parameters of at least so many bytes whose groups all-reduce their
// gradients; on rows of several columns each row has a share of what its columns have. The strategy
// has a decision for each group.
ParameterBytes shard_updates(const Problem& problem, Strategy& strategy, Bytes smallest);

}  // namespace strato
