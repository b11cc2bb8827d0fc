// Finds the ops that experts compute: those between where tokens are sent to experts
// (DispatchTokens) and where what these make comes back (CombineTokens), and which of their letters
// (letter_splits.h) is that of the experts. This is what the role "expert" of a mesh divides
// (Lepikhin et al. 2020, GShard, 3.2: experts divided over devices, tokens exchanged by AllToAll).
#pragma once

#include <cstdint>

#include "core/graph/axes/letter_splits.h"

namespace strato {

// By op: an index into its letter_splits(), or kNoExperts. Of such an op
// - each output is divided along its axis of experts, none is a partial sum over them;
// - gradient ops follow their forward op; what follows from gradients of an expert's parameters
//   (their sums, casts, updates), and what makes an expert's weights of its parameters (casts),
//   is an expert's, too.
// Neither DispatchTokens and CombineTokens nor their gradients are: they have all experts of their
// samples. Pure; safe from any thread.
using ExpertSplits = IdVector<OpId, std::int32_t>;
constexpr std::int32_t kNoExperts = -1;
ExpertSplits expert_splits(const Graph& graph);

// The greatest number that divides those of the experts of all mixtures. 0: there are none.
std::int64_t experts_of(const Graph& graph);

}  // namespace strato
