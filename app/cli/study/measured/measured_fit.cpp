#include "app/cli/study/measured/measured_fit.h"

#include <array>

#include "app/cli/study/fit.h"

namespace strato::cli {
namespace {

template <int kArchitecture>
struct Architecture {
  static constexpr std::array kNames = {"Hopper", "Blackwell"};
  static double get(const Calibration& calibration) {
    const auto found = calibration.architectures.find(kNames[kArchitecture]);
    return found == calibration.architectures.end() ? 1 : found->second;
  }
  static void set(Calibration& calibration, double value) {
    calibration.architectures[kNames[kArchitecture]] = value;
  }
};

#define FIELD(field)                            \
  [](const Calibration& c) { return c.field; }, \
      [](Calibration& c, double value) { c.field = value; }

constexpr std::array kFrameworkParameters = {
    FitParameter{"matrix products", 0.2, 0.95, FIELD(of(OpFamily::MatMul).tensor_cores)},
    FitParameter{"their ramp", 1e6, 1e9, FIELD(of(OpFamily::MatMul).half_flops)},
    FitParameter{"Hopper", 0.3, 1, Architecture<0>::get, Architecture<0>::set},
    FitParameter{"Blackwell", 0.3, 1, Architecture<1>::get, Architecture<1>::set},
    FitParameter{"attention", 0.2, 1, FIELD(attention)},
    FitParameter{"streams", 0.3, 0.98,
                 [](const Calibration& c) { return c.of(OpFamily::Elementwise).memory; },
                 scale_streams},
    FitParameter{"collectives", 0.2, 1, FIELD(collective_scale)},
    FitParameter{"between machines", 0.2, 1, FIELD(network_scale)},
    FitParameter{"start of a collective", 1, 500, FIELD(collective_us)},
    FitParameter{"host, a kernel", 1, 200, FIELD(host_kernel_us)},
    FitParameter{"host, a collective", 1, 1000, FIELD(host_collective_us)},
    FitParameter{"step", 10, 1e6, FIELD(step_us)},
};

#undef FIELD

}  // namespace

Calibration fit_measured(std::span<const MeasuredRow> rows,
                         const MeasuredCalibrations& calibrations,
                         const std::function<void(const std::string&)>& progress) {
  constexpr std::size_t kMost = 120;
  std::vector<MeasuredRow> used;
  const std::size_t every = 2 * std::max<std::size_t>(1, rows.size() / (2 * kMost));
  for (std::size_t i = 0; i < rows.size(); i += every) used.push_back(rows[i]);
  Calibration start = *calibrations.of(rows.front().framework);
  const auto error = measured_error(used, calibrations);
  return fit_parameters(
      kFrameworkParameters, start,
      [&](const Calibration& calibration) {
        return error(calibration) + fit_pull(kFrameworkParameters, calibration, start);
      },
      progress);
}

}  // namespace strato::cli
