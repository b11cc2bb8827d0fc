// Reads a cluster file: a description, or what machines reported of themselves.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "core/cluster/spec/gpu_catalogue.h"
#include "core/cluster/value/cluster.h"

namespace strato {

// Throws InputError with the exact place. The format is described in
// sample_graphs/clusters/README.md.
Cluster read_cluster(const std::filesystem::path& file, const GpuCatalogue& catalogue);
Cluster parse_cluster(std::string_view json, const std::string& file,
                      const GpuCatalogue& catalogue);

// A cluster's file may say what it costs by the hour ("price_per_hour" of its machines). The price
// is no part of the cluster's digest: what is found for a cluster does not depend on it.
struct ClusterPrice {
  IdVector<MachineId, double> per_hour;  // US dollars, by machine
  double total() const;                  // of all machines
};

// Returns nothing when the file has no prices. It reads the cluster's description again: call it
// once.
std::optional<ClusterPrice> price_of(const Cluster& cluster);

}  // namespace strato
