// The constants of the analytic cost model: what part of a GPU's peak an op reaches, as a function
// of its size, and what the framework adds. One set per framework and era, in
// resources/calibrations/NAME.json; every set says what it was fitted on.
#pragma once

#include <array>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/digest.h"
#include "core/graph/graph.h"

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
  double launch_scale = 1;   // kernel launch overhead relative to the GPU generation's
  bool matrix_units = true;  // fp32 products may use TF32 units where the GPU has them
  // Host side of the framework; used by studies, 0: never the bottleneck.
  double dispatch_us = 0;     // per op and replica, one after the other in one process
  double step_us = 0;         // fixed, per step
  double transfer_scale = 1;  // share of a link's bandwidth that point-to-point transfers reach
  double collective_scale = 1;
  double relative_error = 0.25;  // standard error of an op's time, as seen on held-out measurements

  const FamilyEfficiency& of(OpFamily family) const {
    return families[static_cast<std::size_t>(family)];
  }
  FamilyEfficiency& of(OpFamily family) { return families[static_cast<std::size_t>(family)]; }

  // For a current framework: kernels are launched ahead of the GPU, collectives overlap.
  static const Calibration& standard();
  Digest digest() const;
};

// Throw InputError with the exact place.
Calibration read_calibration(const std::filesystem::path& file);
Calibration parse_calibration(std::string_view json, const std::string& file);
std::string calibration_json(const Calibration& calibration);
// By name, from resources/calibrations ("standard" needs no file). Throws InputError that lists
// what there is.
Calibration bundled_calibration(std::string_view name);
std::vector<std::string> bundled_calibrations();  // names, ascending

}  // namespace strato
