// Replicas that update and keep a part of every parameter and of its optimizer state each (ZeRO:
// Rajbhandari, Rasley, Ruwase, He 2020, "ZeRO: memory optimizations toward training trillion
// parameter models", section 5), in all of a strategy. Pure; safe from any thread.
#pragma once

#include "core/strategy/value/strategy.h"

namespace strato {

// In each group that all-reduces its gradients; nothing where that means nothing.
void share_states(Strategy& strategy, const StateSharding& states);

}  // namespace strato
