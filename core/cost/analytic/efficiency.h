// Tells which part of a GPU's peak an op reaches under a calibration. Private to this folder.
#pragma once

#include "core/cluster/value/cluster.h"
#include "core/cost/value/calibration.h"
#include "core/graph/value/graph.h"

namespace strato {

// The rates that kernels of one family can reach on one GPU: time = launch + ramp + work / rate.
struct Rates {
  double flops = 0;                       // per second, for very large kernels
  double memory = 0;                      // bytes per second, for very large kernels
  double compute_ramp = 0;                // seconds per kernel
  double memory_ramp = 0;                 // seconds per kernel
  Precision precision = Precision::Fp32;  // of the units that do the arithmetic
};
Rates rates_of(const Calibration& calibration, const Graph& graph, const Op& op,
               const GpuType& gpu);

double launch_seconds(const Calibration& calibration, const GpuType& gpu);  // per kernel
double local_move_rate(const GpuType& gpu);  // bytes per second, read and written together

}  // namespace strato
