// The NVIDIA driver's management library, loaded at run time: what it tells of the GPUs.
#pragma once

#include <string>
#include <vector>

#include "core/cluster/read/discovered_cluster.h"

namespace strato::worker {

struct NvmlAnswer {
  std::string driver;
  std::string problem;  // why there is none; then no GPUs
  std::vector<GpuReport> gpus;
};

NvmlAnswer ask_nvml(const std::string& library);

}  // namespace strato::worker
