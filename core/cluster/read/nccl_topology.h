// The topology of a machine as NCCL and RCCL know it: what they write to NCCL_TOPO_DUMP_FILE, and
// what clouds ship as NCCL_TOPO_FILE. <system> has CPUs, PCI devices in each other, and in these
// GPUs with their NVLinks, xGMI and C2C links, and network cards (NCCL's src/graph/xml.h).
//
// Which GPU it is: a comment <!-- gpu: NAME --> says it, else the PCI device, else the compute
// capability (`sm`, or AMD's `gcn`) where the catalogue has one such GPU. A file that leaves GPUs
// to be filled in (NCCL_TOPO_FILE) tells no NVLinks: a comment <!-- nvlinks: 12 --> gives those of
// each GPU to a switch.
//
// Links: PCIe is the narrowest link between a GPU and its CPU; a link that reports generation 1 is
// asleep or made up by a hypervisor, and is passed over. A machine's network is the sum of its
// network cards. The hosts of one file are one NVLink domain, and become one machine.
#pragma once

#include <string>
#include <string_view>

#include "core/cluster/spec/gpu_catalogue.h"

namespace strato {

// The text of a cluster file with one machine. Throws InputError (file: `file`) for XML of other
// programs, values that cannot be, and GPUs that nothing names; it says what to give instead.
std::string nccl_cluster(std::string_view xml, const std::string& file,
                         const GpuCatalogue& catalogue);

}  // namespace strato
