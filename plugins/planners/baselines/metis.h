// Model parallelism over all devices: METIS divides the graph of op groups into one part a device,
// minimising the bytes between parts, with compute time balanced in proportion to the devices'
// speed. Every group runs whole on the device of its part. The METIS baseline of GDP section 4 and
// Celeritas section 6, on op groups.
#pragma once

#include "core/search/api/problem.h"
#include "core/strategy/value/strategy.h"

namespace strato {

// The strategy of the planner "metis".
Strategy partition_groups(const Problem& problem);

}  // namespace strato
