// A ring collective whose members stand in an order that somebody chose (AutoDist 2.2: reduction
// sequence). Cost models know the cheapest order only, for members in ascending order.
#pragma once

#include <span>

#include "core/cost/value/cost_model.h"

namespace strato {

// AllReduce: 2(n-1) steps, in each of which every member sends an n-th of the tensor to the next
// one; AllGather (bytes: of the result): n-1 steps. A step takes as long as its longest transfer,
// where a link that several of them cross shares its bandwidth. `sequence`: at least two members.
CollectiveCost ordered_ring(const Cluster& cluster, const CostModel& cost, Collective kind,
                            std::span<const DeviceId> sequence, Bytes bytes);

}  // namespace strato
