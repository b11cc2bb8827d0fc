// Devices as people name them.
#pragma once

#include <string_view>
#include <vector>

#include "core/cluster/value/cluster.h"

namespace strato {

// Those of the device group of this name, the device, or, for "all", every one; empty: there is
// none.
std::vector<DeviceId> devices_named(std::string_view name, const Cluster& cluster);

}  // namespace strato
