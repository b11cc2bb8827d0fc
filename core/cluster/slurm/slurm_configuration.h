// What Slurm's configuration says of a cluster, and what lines beside it add
// (core/cluster/read/slurm_topology.h). Values; reading them is pure.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/cluster/spec/cluster_spec.h"
#include "core/cluster/spec/gpu_catalogue.h"

namespace strato {

struct SlurmNode {
  std::size_t line = 0;        // of the text, from 1
  std::vector<GpuCount> gpus;  // a bare "gpu:8" has an empty type
};

struct SlurmSwitch {
  std::size_t line = 0;
  std::string name;
  bool block = false;
  std::vector<std::string> nodes, switches;
};

struct SlurmConfiguration {
  std::vector<SlurmSwitch> switches;  // those below them are among them
  std::map<std::string, SlurmNode> nodes;
  std::vector<std::pair<std::string, std::size_t>> order;  // of these nodes, and their lines
  std::optional<GpuCount> usual;       // GPUs of a node that nothing else is told of
  bool counted = false;                // these have a count
  std::optional<double> nic, uplinks;  // 10^6 bits per second: of a node, of a leaf switch
  std::optional<double> oversubscription;
  bool has_speeds = false;  // LinkSpeed= is there
  bool several = false;     // a node is on several switches: the first one has it here
};

// What to append where nothing tells which GPUs nodes have.
inline constexpr const char* kGiveSlurmGpus =
    "append the NodeName= lines of slurm.conf with Gres=gpu:TYPE:COUNT, or a line \"# gpu: NAME x "
    "COUNT\" with a name of stratoscope-cli list gpus";

bool is_slurm_configuration(std::string_view text);

// Throws InputError (file: `file`, place: the line) for lists of hosts that cannot be, or are
// longer than a cluster may be, GPUs that are not known, and switches that are not there.
SlurmConfiguration parse_slurm_configuration(std::string_view text, const std::string& file,
                                             const GpuCatalogue& catalogue);

}  // namespace strato
