#include "plugins/engines/replay_cuda/spin_kernels.h"

namespace strato::replay_cuda {
namespace {

constexpr int kTicks = 32;  // steps of the counter that are looked at

__device__ std::int64_t device_nanoseconds() {
  std::int64_t now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

__global__ void spin_cycles_kernel(std::int64_t cycles) {
  const std::int64_t start = clock64();
  while (clock64() - start < cycles) {
  }
}

__global__ void spin_nanoseconds_kernel(std::int64_t nanoseconds) {
  const std::int64_t start = device_nanoseconds();
  while (device_nanoseconds() - start < nanoseconds) {
  }
}

// The clocks are read at a step of the counter at both ends, so that its coarseness does not count.
__device__ std::int64_t next_step(std::int64_t from) {
  std::int64_t now = device_nanoseconds();
  while (now <= from) now = device_nanoseconds();
  return now;
}

__global__ void sample_clocks_kernel(std::int64_t nanoseconds, ClockSample* sample) {
  std::int64_t last = next_step(device_nanoseconds()), least = nanoseconds;
  for (int i = 0; i < kTicks; ++i) {
    const std::int64_t now = next_step(last);
    if (now - last < least) least = now - last;
    last = now;
  }
  const std::int64_t cycles = clock64();
  const std::int64_t end = next_step(last + nanoseconds - 1);
  sample->cycles = clock64() - cycles;
  sample->nanoseconds = end - last;
  sample->tick = least;
}

}  // namespace

cudaError_t spin_cycles(cudaStream_t stream, std::int64_t cycles) {
  spin_cycles_kernel<<<1, 1, 0, stream>>>(cycles);
  return cudaGetLastError();
}

cudaError_t spin_nanoseconds(cudaStream_t stream, std::int64_t nanoseconds) {
  spin_nanoseconds_kernel<<<1, 1, 0, stream>>>(nanoseconds);
  return cudaGetLastError();
}

cudaError_t sample_clocks(cudaStream_t stream, std::int64_t nanoseconds, ClockSample* sample) {
  sample_clocks_kernel<<<1, 1, 0, stream>>>(nanoseconds, sample);
  return cudaGetLastError();
}

}  // namespace strato::replay_cuda
