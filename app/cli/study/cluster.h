// Clusters of which a study uses a part of the GPUs.
#pragma once

#include <string>

namespace strato::cli {

struct RestrictedCluster {
  std::string json;  // of the cluster with the GPUs in use
  int machines = 0, gpus = 0;
};

// `gpus_per_machine` of each machine's GPUs, 0: all; the machines have GPUs of one type. `column`:
// for messages. Throws InputError.
RestrictedCluster restricted_cluster(const std::string& cluster, int gpus_per_machine,
                                     const std::string& column);

}  // namespace strato::cli
