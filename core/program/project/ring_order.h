// Rings whose order the strategy says (SyncPart::sequence; AutoDist 2.2, reduction sequence), in
// the programs of ranks: what collectives their members go around, and so what transports do.
//
// Pure; safe from any thread.
#pragma once

#include <map>
#include <vector>

#include "core/program/rank/rank_program.h"
#include "core/strategy/value/strategy.h"

namespace strato {

// By collective; each sends to the next one, the last to the first. A ring has no beginning: the
// lowest device stands last here, so that no order is the ascending one, which leaves the way of
// reducing to the transport.
using RingOrders = std::map<TaskId, std::vector<DeviceId>>;

// `program`: of this (complete) strategy, with all of its devices. Of collectives without a
// sequence: nothing.
RingOrders ring_orders(const Program& program, const Strategy& strategy);

// Puts the members of these collectives, and what they bring in, into their order. All ranks have
// to do so.
void order_rings(RankProgram& program, const RingOrders& orders);

}  // namespace strato
