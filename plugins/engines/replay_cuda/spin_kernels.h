// Kernels that do nothing for a while, in one thread of the device. Plain C++, so that only the .cu
// file needs CUDA's compiler.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace strato::replay_cuda {

// A sample of the device's clocks. It lies in memory that host and device see.
struct ClockSample {
  std::int64_t tick = 0;         // ns: the least step of the device's nanosecond counter
  std::int64_t nanoseconds = 0;  // passed while
  std::int64_t cycles = 0;       // of the multiprocessor passed
};

// Each is queued on the stream and returns at once.
cudaError_t spin_cycles(cudaStream_t stream, std::int64_t cycles);
cudaError_t spin_nanoseconds(cudaStream_t stream, std::int64_t nanoseconds);
cudaError_t sample_clocks(cudaStream_t stream, std::int64_t nanoseconds, ClockSample* sample);

}  // namespace strato::replay_cuda
