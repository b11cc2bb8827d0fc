#include "app/cli/study/measured/measured_fit.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "app/cli/study/fit.h"
#include "core/base/error.h"

namespace strato::cli {
namespace {

template <int kArchitecture>
struct Architecture {
  static constexpr std::array kNames = {"Ampere", "Hopper", "Blackwell"};
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
    FitParameter{"Ampere", 0.3, 1, Architecture<0>::get, Architecture<0>::set},
    FitParameter{"Hopper", 0.3, 1, Architecture<1>::get, Architecture<1>::set},
    FitParameter{"Blackwell", 0.3, 1, Architecture<2>::get, Architecture<2>::set},
    FitParameter{"attention", 0.2, 1, FIELD(attention)},
    FitParameter{"head", 0.2, 1, FIELD(head)},
    FitParameter{"streams", 0.3, 0.98,
                 [](const Calibration& c) { return c.of(OpFamily::Elementwise).memory; },
                 scale_streams},
    FitParameter{"updates", 0.1, 0.98, FIELD(of(OpFamily::Update).memory)},
    FitParameter{"collectives", 0.2, 1, FIELD(collective_scale)},
    FitParameter{"between machines", 0.2, 1, FIELD(network_scale)},
    FitParameter{"start of a collective", 1, 500, FIELD(collective_us)},
    FitParameter{"host, a kernel", 1, 200, FIELD(host_kernel_us)},
    FitParameter{"host, a collective", 1, 1000, FIELD(host_collective_us)},
    FitParameter{"host, a loss", 1, 1e5, FIELD(host_loss_us)},
    FitParameter{"step", 10, 1e6, FIELD(step_us)},
};

#undef FIELD

// At most 120 of them, at equal distances from `first` on.
std::vector<MeasuredRow> some(std::span<const MeasuredRow> rows, std::size_t first) {
  constexpr std::size_t kMost = 120;
  std::vector<MeasuredRow> result;
  const std::size_t every = 2 * std::max<std::size_t>(1, rows.size() / (2 * kMost));
  for (std::size_t i = first; i < rows.size(); i += every) result.push_back(rows[i]);
  return result;
}

double standard_error(std::span<const double> errors) {
  double sum = 0;
  for (const double error : errors) sum += error * error;
  return std::sqrt(sum / static_cast<double>(errors.size()));
}

}  // namespace

Calibration fit_measured(std::span<const MeasuredRow> rows,
                         const MeasuredCalibrations& calibrations,
                         const std::function<void(const std::string&)>& progress,
                         const std::stop_token& stop) {
  if (rows.size() < 2)
    throw InputError("", "--calibrate", "there are not two steps to fit to and to check on",
                     "give tables of measured steps");
  const Calibration start = *calibrations.of(rows.front().framework);
  const MeasuredSteps steps(some(rows, 0), calibrations);
  Calibration calibration = fit_parameters(
      kFrameworkParameters, start,
      [&](const Calibration& tried) {
        const std::vector<double> errors = steps.errors(tried);
        double sum = 0;
        for (const double error : errors) sum += fit_term(std::exp(error), 1);
        return sum / static_cast<double>(errors.size()) +
               fit_pull(kFrameworkParameters, tried, start);
      },
      progress, stop);
  const MeasuredSteps others(some(rows, 1), calibrations);
  calibration.relative_error = standard_error(others.errors(calibration));
  return calibration;
}

}  // namespace strato::cli
