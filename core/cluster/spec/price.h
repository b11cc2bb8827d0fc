// A cluster's file may say what it costs by the hour ("price_per_hour" of its machines). The price
// is no part of the cluster's digest: what is found for a cluster does not depend on it.
#pragma once

#include <optional>

#include "core/cluster/value/cluster.h"

namespace strato {

struct ClusterPrice {
  IdVector<MachineId, double> per_hour;  // US dollars, by machine
  double total() const;                  // of all machines
};

// Returns nothing when the file has no prices. It reads the cluster's description again: call it
// once.
std::optional<ClusterPrice> price_of(const Cluster& cluster);

}  // namespace strato
