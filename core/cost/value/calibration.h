// The constants of the analytic cost model: what part of a GPU's peak an op reaches, as a function
// of its size, and what the framework adds. One set per framework and era, in
// resources/calibrations/NAME.json; every set says what it was fitted on.
#pragma once

#include <array>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "core/base/digest.h"
#include "core/graph/value/graph.h"

namespace strato {

inline constexpr std::size_t kOpFamilies = static_cast<std::size_t>(OpFamily::Other) + 1;

// Efficiency grows with the size of a kernel and saturates: e(x) = peak * x / (x + half), x in
// flops (or bytes, for memory) of one kernel. `half` grows with a GPU's peak rate, because a faster
// GPU needs more work to fill; so a kernel's time is launch + ramp + x / (peak * rate), where the
// ramp is one time for every GPU: time never falls when samples grow, and time per sample never
// grows.
struct FamilyEfficiency {
  double cuda_cores = 0.5;    // of the peak rate of ordinary cores, for very large kernels
  double tensor_cores = 0.3;  // of the peak rate of matrix units, for very large kernels
  double memory = 0.65;       // of the memory bandwidth, for very large kernels
  double half_flops = 0;      // flops of a kernel that reaches half of it on a 10 Tflop/s GPU
  double half_bytes = 0;      // bytes of a kernel that reaches half of it at 500 GB/s
};

struct Calibration {
  std::string name = "standard";
  std::string source;  // what it was fitted on, for people
  std::array<FamilyEfficiency, kOpFamilies> families;
  // Of the rate that matrix units reach in products of matrices: what attention in one kernel does,
  // what those do that a loss reads (with a vocabulary: very wide, in 32 bits for the loss), and
  // what clocks under power limits leave of an architecture's peak (by GpuType::architecture; 1
  // where it is not there).
  double attention = 1;
  double head = 1;
  std::map<std::string, double, std::less<>> architectures;
  double winograd = 1.0;     // fp32 3 x 3 convolutions of stride 1 do so much less arithmetic
  double launch_scale = 1;   // kernel launch overhead relative to the GPU generation's
  double issue_us = 0;       // a kernel takes no less: the framework starts no more of them in time
  bool matrix_units = true;  // fp32 products may use TF32 units where the GPU has them
  bool fp8_products = false;  // 16-bit products compute in 8 bits where the GPU can
  // A pointwise op (or softmax) is one kernel with the pointwise op that alone reads its output:
  // what is between them is neither written nor read (kernels of Megatron-LM's own, or a compiler).
  bool fuses_pointwise = false;
  // All parameters are cast and updated by a few kernels (multi-tensor optimizers), and gradients
  // are written in the precision that they are added up in: none of it has kernels of its own.
  bool fuses_updates = false;
  // Products that make gradients of weights add them to those of earlier micro-batches.
  bool fuses_accumulation = false;
  double transfer_scale = 1;  // share of a link's bandwidth that point-to-point transfers reach
  double collective_scale = 1;
  double network_scale = 0;  // the same of collectives between machines; 0: as collective_scale
  double collective_us = 0;  // to start one: a kernel on every member, and their first meeting
  // The process that drives a GPU starts its kernels one after the other, ahead of the GPU where it
  // can (CostModel::issue()); 0: it is never the bottleneck.
  double host_kernel_us = 0;           // for each kernel
  double host_collective_us = 0;       // for each collective
  double host_loss_us = 0;             // for each loss: to fetch samples, to log and to scale it
  bool host_awaits_transfers = false;  // it is not ahead of what other devices send
  // Host side of the framework. Applied by studies, not by the cost model; 0: never the bottleneck.
  double dispatch_us = 0;      // per kernel, one after the other in a process, over its GPUs
  double step_us = 0;          // fixed, per step
  double input_sample_us = 0;  // to read one sample, one after the other in a process
  double input_GBps = 0;       // to bring the samples' bytes
  // Variables may stay in the host's memory (TensorFlow slim's data parallelism).
  double host_port_GBps = 20;    // between that memory and all GPUs of its machine
  double host_latency_us = 20;   // per tensor
  double host_memory_GBps = 60;  // of summing gradients and updating variables there
  double relative_error = 0.25;  // standard error of an op's time, as seen on held-out measurements

  const FamilyEfficiency& of(OpFamily family) const {
    return families[static_cast<std::size_t>(family)];
  }
  FamilyEfficiency& of(OpFamily family) { return families[static_cast<std::size_t>(family)]; }

  // Of a current framework: kernels are launched ahead of the GPU, collectives overlap.
  static const Calibration& standard();
  Digest digest() const;
};

// Throw InputError with the exact place.
Calibration read_calibration(const std::filesystem::path& file);
Calibration parse_calibration(std::string_view json, const std::string& file);
std::string calibration_json(const Calibration& calibration);
// Finds a calibration by its name in resources/calibrations ("standard" needs no file). Throws
// InputError that lists what there is.
Calibration bundled_calibration(std::string_view name);

}  // namespace strato
