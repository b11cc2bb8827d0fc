// The simple strategies that everything is measured against.
#pragma once

#include "core/search/problem.h"
#include "core/strategy/strategy.h"

namespace strato {

// Data parallel on all devices, equal shares (DP-NCCL): the baseline of every speed-up.
Strategy data_parallel(const Problem& problem, Mode mode = Mode::ReplicateAllReduce);
// Shares in proportion to each device's speed on the whole graph (DP-NCCL-P).
Strategy data_parallel_proportional(const Problem& problem);
// Everything on the one device on which the graph runs fastest among those whose memory may hold it.
Strategy on_one_device(const Problem& problem, DeviceId device);

}  // namespace strato
