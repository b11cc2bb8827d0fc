// Reads a cluster file: a description (sample_graphs/clusters/README.md), or what `nvidia-smi topo
// -m` prints: the matrix of links between a machine's GPUs (and network cards, which are passed
// over), in any driver's variant, with or without colours.
//
// Such a matrix does not name the GPUs. In the same text, before or after it, stands one of: what
// `nvidia-smi -L` prints; a table of `nvidia-smi --query-gpu=name,memory.total --format=csv`; a
// line "gpu: NAME". Instances of a GPU (MIG) that the list has are devices of their own. Of one
// GPU, or where all are split, the list is enough. machine_text.h has what else is read.
//
// Links: NV# are # NVLinks of the GPU's generation (20, 25 and, from Blackwell on, 50 GB/s each
// way; NVIDIA's product briefs of P100, V100, A100, H100, B200). More of them than a GPU has ports
// for mean a switch. PIX, PXB, PHB, NODE, SYS and SOC are PCIe with the generation of the GPU's
// architecture (the same briefs) and 16 lanes; what the path between sockets takes away is
// not known, and the cluster's source says that there is one. discovered_cluster.h has the rest.
#pragma once

#include <filesystem>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>

#include "core/cluster/spec/gpu_catalogue.h"
#include "core/cluster/value/cluster.h"

namespace strato {

// Also "h100-8x8" (equal_machines.h). Throws InputError with the exact place.
Cluster read_cluster(const std::filesystem::path& file, const GpuCatalogue& catalogue);
Cluster parse_cluster(std::string_view json, const std::string& file,
                      const GpuCatalogue& catalogue);

bool is_topology(std::string_view text);
bool is_gpu_list(std::string_view text);  // of nvidia-smi -L

// The text of a cluster file with one machine. Throws InputError (file: `file`) for a matrix that
// is not whole, and GPUs that nothing names or the catalogue does not know.
std::string topology_cluster(std::string_view text, const std::string& file,
                             const GpuCatalogue& catalogue);

// A cluster's file may say what it costs by the hour ("price_per_hour" of its machines). The price
// is no part of the cluster's digest: what is found for a cluster does not depend on it.
struct ClusterPrice {
  IdVector<MachineId, double> per_hour;  // US dollars, by machine
  double total() const { return std::accumulate(per_hour.begin(), per_hour.end(), 0.0); }
};

// Nothing when the file has no prices. It reads the cluster's description again: call it once.
std::optional<ClusterPrice> price_of(const Cluster& cluster);

}  // namespace strato
