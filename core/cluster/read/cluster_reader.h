// Reads a cluster file: a description, or what machines reported of themselves.
#pragma once

#include <filesystem>
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

}  // namespace strato
