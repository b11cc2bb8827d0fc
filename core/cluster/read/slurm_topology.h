// A cluster from Slurm's configuration: topology.conf (SwitchName= with Nodes= or Switches=, or
// BlockName=) and what its nodes are: NodeName= lines with Gres=gpu:TYPE:COUNT, as slurm.conf has
// them, in the same text.
//
// Lines, or comments, add what Slurm does not know:
//   gpu: H100 x 8              GPUs of each node that no Gres tells, or their type where it is bare
//   nic: 8 x 400 Gb/s          of each node, one direction; there must be one
//   oversubscription: 3        the nodes of a leaf switch together have 3 times its uplinks, or
//   uplinks: 8 x 400 Gb/s      of each leaf switch
// Without the last two the network is as wide as the nodes need: LinkSpeed= has no unit, and Slurm
// does not use it. Switches above the leaves are taken as wide enough. GPUs in a node are joined by
// what their kind has; a block of GB200 nodes is one NVLink domain, and becomes one machine.
#pragma once

#include <string>
#include <string_view>

#include "core/cluster/spec/gpu_catalogue.h"

namespace strato {

// The text of a cluster file. Throws InputError (file: `file`, place: the line) for lists of hosts
// that cannot be, or are longer than a cluster may be, nodes whose GPUs nothing tells, and switches
// that are not there.
std::string slurm_cluster(std::string_view text, const std::string& file,
                          const GpuCatalogue& catalogue);

}  // namespace strato
