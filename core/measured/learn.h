// What a launched plan teaches a cost model (FastT 4, adaptive cost models): its measured times as a
// profile. Pure; safe from any thread.
#pragma once

#include "core/cost/profile.h"
#include "core/sim/simulate.h"

namespace strato {

// Of the ops under their devices' GPU types, and of the transfers and collectives that were measured
// with at least two sizes. Parts of an op that is split along an axis are left out: a profile knows
// whole ops. Empty when nothing was measured.
Profile learned_profile(const Timeline& measured);

}  // namespace strato
