// Errors of CUDA's runtime as those of ours.
#pragma once

#include <cuda_runtime.h>

#include <string>

#include "core/base/error.h"

namespace strato::replay_cuda {

// Throws InputError: what fails here is the machine, not the program.
inline void cuda_check(cudaError_t status, const std::string& what) {
  if (status == cudaSuccess) return;
  throw InputError("", "the GPU", what + " failed: " + cudaGetErrorString(status),
                   "see nvidia-smi, and the system's log for the driver's messages");
}

}  // namespace strato::replay_cuda
