// What GPUs of a kind have to be joined by, where a machine does not tell.
#pragma once

#include "core/cluster/value/cluster.h"

namespace strato {

struct GpuPorts {
  int nvlinks = 0;  // at most, also xGMI links; of any card of its architecture
  int pcie_generation = 0;
};
// Zeros for what is not known. Sources: the product briefs and data sheets of NVIDIA and AMD that
// the catalogue names.
GpuPorts ports_of(const GpuType& type);

// Those of the board that the GPU is on: none of a PCIe card.
int board_links_of(const GpuType& type);

}  // namespace strato
