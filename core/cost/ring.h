// Ring collectives. Private to this folder.
#pragma once

#include "core/cost/cost_model.h"

namespace strato {

// The ring visits the devices in ascending order, machine after machine, so a NIC's direction is
// used once. Where several hops share a link (the switch, when it has a bandwidth), each gets its
// part.
CollectiveCost ring_collective(const Cluster& cluster, Collective kind,
                               std::span<const DeviceId> devices, Bytes bytes);

}  // namespace strato
