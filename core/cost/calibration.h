// The constants of the analytic cost model: what part of a GPU's peak an op reaches, as a function of
// its size, and what the framework adds. One set per framework and era, in
// resources/calibrations/NAME.json; every set says what it was fitted on.
#pragma once

#include <array>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/digest.h"
#include "core/graph/graph.h"

namespace strato {

inline constexpr std::size_t kOpFamilies = static_cast<std::size_t>(OpFamily::Other) + 1;

// Efficiency grows with the size of a kernel and saturates: e(x) = peak * x / (x + half), x in flops
// (or bytes for memory) of one kernel.
struct FamilyEfficiency {
  double cuda_cores = 0.5;    // of the peak rate of ordinary cores, for very large kernels
  double tensor_cores = 0.3;  // of the peak rate of matrix units, for very large kernels
  double memory = 0.65;       // of the memory bandwidth, for very large kernels
  double half_flops = 0;      // flops of a kernel at which half of it is reached; on a GPU of 10 Tflop/s:
                              // scales with the peak rate, because a faster GPU needs more work to fill
  double half_bytes = 0;      // the same for memory, at 500 GB/s
};

struct Calibration {
  std::string name = "standard";
  std::string source;  // what it was fitted on, for people
  std::array<FamilyEfficiency, kOpFamilies> families;
  double launch_scale = 1;  // kernel launch overhead relative to the GPU generation's
  bool matrix_units = true;  // fp32 products may use TF32 units where the GPU has them
  // Host side of the framework; used by studies, 0: never the bottleneck.
  double dispatch_us = 0;    // per op and replica, one after the other in one process
  double step_us = 0;        // fixed, per step
  double transfer_scale = 1;  // share of a link's bandwidth that point-to-point transfers reach
  double collective_scale = 1;
  double relative_error = 0.25;  // standard error of an op's time, as seen on held-out measurements

  static const Calibration& standard();
  Digest digest() const;
};

// Throw InputError with the exact place.
Calibration read_calibration(const std::filesystem::path& file);
Calibration parse_calibration(std::string_view json, const std::string& file);
std::string calibration_json(const Calibration& calibration);
// By name, from resources/calibrations. Throws InputError that lists what there is.
Calibration bundled_calibration(std::string_view name);

}  // namespace strato
