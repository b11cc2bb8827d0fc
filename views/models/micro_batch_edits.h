// Micro-batches by hand: those that a step can have, and the strategy with them.
#pragma once

#include <cstdint>
#include <vector>

#include "core/strategy/value/strategy.h"
#include "views/models/regroup.h"

namespace strato {

// The counts that divide the batch, ascending, up to `most` of them and the one that there is now.
std::vector<std::int32_t> possible_micro_batches(std::int64_t batch, std::int32_t now,
                                                 std::size_t most = 64);

// Throws InputError where the strategy cannot be computed so: a table of another number of
// micro-batches, an op that is split and needs the whole batch. For Session::edit_later().
StrategyChange with_micro_batches(const MicroBatches& wanted);

}  // namespace strato
