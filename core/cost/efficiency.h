// What part of a GPU's peak an op reaches, by op family: the only place with constants of that
// kind. Private to this folder.
#pragma once

#include "core/cluster/cluster.h"
#include "core/graph/graph.h"

namespace strato {

struct Efficiency {
  double cuda_cores;    // of the peak rate of ordinary cores
  double tensor_cores;  // of the peak rate of matrix units
  double memory;        // of the memory bandwidth
};
const Efficiency& efficiency_of(OpFamily family);

// What one op can reach on one GPU.
struct Rates {
  double flops = 0;   // per second
  double memory = 0;  // bytes per second
};
Rates rates_of(OpFamily family, DataType type, const GpuType& gpu);

double launch_seconds(const GpuType& gpu);   // per kernel
double local_move_rate(const GpuType& gpu);  // bytes per second, read and written together

}  // namespace strato
