// Random clusters of unequal machines (TAG 5.2): what a network is trained on and tried on.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/cluster/spec/gpu_catalogue.h"
#include "core/cluster/value/cluster.h"

namespace strato {

struct RandomClusterOptions {
  // A machine's GPUs are of one of these, by name in the catalogue.
  std::vector<std::string> gpus = {"V100-SXM2-32GB", "GTX-1080-Ti", "P100-PCIe-16GB"};
  int least_machines = 1, most_machines = 6;
  int least_gpus = 1, most_gpus = 8;  // of a machine
};

// The same seed and options give the same cluster on every machine. It is read from a cluster
// file's text, so json() can be saved; its name tells the seed. Two seeds may give equal machines.
// Throws InputError for a GPU that the catalogue lacks and for an empty range.
Cluster random_cluster(std::uint64_t seed, const RandomClusterOptions& options = {},
                       const GpuCatalogue& catalogue = GpuCatalogue::bundled());

}  // namespace strato
