// The GPU that a rank computes on: which one it is, and its compute stream, kept busy for a given
// time; and errors of CUDA's runtime as ours.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <string>

#include "core/base/units.h"

namespace strato::replay_cuda {

// "cuda": the rank's place on its machine (as srun or mpirun says, else its number), modulo the
// GPUs; "cuda:2": that one. Throws InputError for another name, or a GPU that is not there.
int gpu_index(const std::string& device, int local_rank, int gpus);

// Reads the local rank from the environment of srun, mpirun or torchrun; else it is `rank`.
int local_rank(int rank);

// Counts the GPUs. Throws InputError when there is none, or no driver.
int gpu_count();

// Throws InputError: what fails here is the machine, not the program.
void cuda_check(cudaError_t status, const std::string& what);

// Chooses the clock of the device by which a kernel of a given time spins: the nanosecond counter
// is right whatever the clock rate does, but coarse on some devices (1 us), so short times are
// counted in cycles at the rate that was measured.
struct SpinClocks {
  Nanos tick{1};  // of the nanosecond counter
  double cycles_per_nano = 1;
  Nanos overhead;  // from the launch of a kernel that does not spin until it is known done
};

struct SpinPlan {
  enum class Clock : std::uint8_t { None, Cycles, Nanoseconds } clock = Clock::None;
  std::int64_t count = 0;
};

// Returns the plan to spin for `time` from now on until the host knows that the kernel is done.
// None: a launch alone takes longer.
SpinPlan spin_plan(Nanos time, const SpinClocks& calibration);

// A spinner belongs to one thread, in which the GPU has to be current.
class Spinner {
 public:
  Spinner();  // calibrates: some 20 ms
  ~Spinner();
  Spinner(const Spinner&) = delete;
  Spinner& operator=(const Spinner&) = delete;

  // Returns when the kernel is done.
  void spin(Nanos time);

 private:
  void launch(const SpinPlan& plan);
  void calibrate_clocks();
  void calibrate_overhead();

  cudaStream_t stream_ = nullptr;
  SpinClocks calibration_;
};

}  // namespace strato::replay_cuda
