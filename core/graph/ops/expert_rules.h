// Mixtures of experts: tokens go to the experts that a router has chosen for them, and what these
// make of them comes back (GShard, Lepikhin et al. 2020, algorithm 1). Every expert has room for
// `capacity` tokens of each sample; in the order of positions and choices, what finds no room is
// dropped. What happens to a sample so depends on that sample alone.
//
// DispatchTokens: x [batch, positions, size], experts [batch, positions, choices] of I64
//   -> [batch, experts, capacity, size], zero where no token is; attributes "experts", "capacity"
// CombineTokens: results [batch, experts, capacity, size], experts as before, weights
//   [batch, positions, choices] -> [batch, positions, size]
//
// The experts themselves are products between the two, with weights [experts, size, width].
#pragma once

#include "core/graph/rules/op_rule.h"

namespace strato {

OpRules expert_rules();

}  // namespace strato
