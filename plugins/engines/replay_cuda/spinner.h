// Keeps one GPU's compute stream busy for a given time.
#pragma once

#include <cuda_runtime.h>

#include "plugins/engines/replay_cuda/spin_plan.h"

namespace strato::replay_cuda {

// A spinner belongs to one thread, in which the GPU has to be current.
class Spinner {
 public:
  Spinner();  // calibrates: some 20 ms
  ~Spinner();
  Spinner(const Spinner&) = delete;
  Spinner& operator=(const Spinner&) = delete;

  // Returns when the kernel is done.
  void spin(Nanos time);
  const SpinClocks& calibration() const { return calibration_; }

 private:
  void launch(const SpinPlan& plan);
  void calibrate_clocks();
  void calibrate_overhead();

  cudaStream_t stream_ = nullptr;
  SpinClocks calibration_;
};

Nanos host_now();  // of the monotonic clock

}  // namespace strato::replay_cuda
