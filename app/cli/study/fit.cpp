#include "app/cli/study/fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "core/base/parallel.h"

namespace strato::cli {
namespace {

constexpr OpFamily kProducts[] = {OpFamily::MatMul, OpFamily::Convolution, OpFamily::Recurrent};

bool is_product(OpFamily family) {
  return std::find(std::begin(kProducts), std::end(kProducts), family) != std::end(kProducts);
}

void set_ramp(Calibration& calibration, double half_flops) {
  for (const OpFamily family : {OpFamily::MatMul, OpFamily::Convolution})
    calibration.of(family).half_flops = half_flops;
}

#define FIELD(field)                            \
  [](const Calibration& c) { return c.field; }, \
      [](Calibration& c, double value) { c.field = value; }

const FitParameter kParameters[] = {
    {"convolutions", 0.2, 1, FIELD(of(OpFamily::Convolution).cuda_cores)},
    {"matrix products", 0.2, 1, FIELD(of(OpFamily::MatMul).cuda_cores)},
    {"recurrent", 0.1, 1, FIELD(of(OpFamily::Recurrent).cuda_cores)},
    {"streams", 0.3, 0.95, [](const Calibration& c) { return c.of(OpFamily::Elementwise).memory; },
     scale_streams},
    {"ramp", 1e6, 1e10, [](const Calibration& c) { return c.of(OpFamily::MatMul).half_flops; },
     set_ramp},
    {"recurrent ramp", 1e6, 1e10, FIELD(of(OpFamily::Recurrent).half_flops)},
    {"winograd", 1, 2.25, FIELD(winograd)},
    {"launch", 0.5, 20, FIELD(launch_scale)},
    {"issue", 0.1, 200, FIELD(issue_us)},
    {"collectives", 0.05, 1, FIELD(collective_scale)},
    {"dispatch", 0.1, 100, FIELD(dispatch_us)},
    {"step", 10, 1e5, FIELD(step_us)},
    {"input sample", 1, 1e4, FIELD(input_sample_us)},
    {"input bytes", 0.05, 100, FIELD(input_GBps)},
    {"host port", 1, 200, FIELD(host_port_GBps)},
    {"host latency", 1, 1000, FIELD(host_latency_us)},
    {"host memory", 1, 500, FIELD(host_memory_GBps)},
};

#undef FIELD

// Mean |log error| over the cells, with their simulations kept.
class Objective {
 public:
  Objective(std::vector<StudyCase> cases, const Calibration& start)
      : cases_(std::move(cases)), start_(start), kept_(cases_.size()) {}

  double operator()(const Calibration& calibration) {
    std::vector<double> terms(cases_.size());
    parallel_for(cases_.size(), 0, [&](std::size_t i) {
      const double ours = predict(cases_[i], simulated(i, calibration), calibration).seconds;
      terms[i] = fit_term(ours, cases_[i].reported_seconds());
    });
    return std::accumulate(terms.begin(), terms.end(), 0.0) / static_cast<double>(terms.size()) +
           fit_pull(kParameters, calibration, start_);
  }

 private:
  const Simulated& simulated(std::size_t i, const Calibration& calibration) {
    const Digest key = simulation_key(cases_[i], calibration);
    const auto [at, missing] = kept_[i].try_emplace(key);
    if (missing) at->second = simulate(cases_[i], calibration);
    return at->second;
  }

  std::vector<StudyCase> cases_;
  Calibration start_;
  std::vector<std::map<Digest, Simulated>> kept_;  // by case
};

}  // namespace

double fit_term(double ours, double theirs) {
  constexpr double kRounded = 0.05;
  const double error = std::log(ours / theirs);
  return std::sqrt(error * error + kRounded * kRounded) - kRounded;
}

double fit_pull(std::span<const FitParameter> parameters, const Calibration& calibration,
                const Calibration& start) {
  double pull = 0;
  for (const FitParameter& parameter : parameters) {
    const double moved = std::log(parameter.get(calibration) / parameter.get(start));
    pull += 1e-3 * moved * moved;
  }
  return pull;
}

void scale_streams(Calibration& calibration, double elementwise) {
  const Calibration& standard = Calibration::standard();
  const double factor = elementwise / standard.of(OpFamily::Elementwise).memory;
  for (std::size_t i = 0; i < kOpFamilies; ++i) {
    const auto family = static_cast<OpFamily>(i);
    if (is_product(family) || family == OpFamily::View) continue;
    calibration.of(family).memory = std::min(1.0, standard.of(family).memory * factor);
  }
}

Calibration fit_parameters(std::span<const FitParameter> parameters, Calibration calibration,
                           const std::function<double(const Calibration&)>& objective,
                           const std::function<void(const std::string&)>& progress,
                           const std::stop_token& stop) {
  double best = objective(calibration);
  for (double step = 0.4; step > 0.06;) {
    const double before = best;
    for (const FitParameter& parameter : parameters) {
      for (const double factor : {std::exp(step), std::exp(-step)}) {
        if (stop.stop_requested()) return calibration;
        Calibration tried = calibration;
        parameter.set(tried,
                      std::clamp(parameter.get(tried) * factor, parameter.low, parameter.high));
        const double value = objective(tried);
        if (value >= best) continue;
        best = value;
        calibration = tried;
        break;
      }
    }
    progress(fmt::format("step {:.3f}: mean |log error| {:.4f}", step, best));
    if (before - best < 2e-3) step /= 2;
  }
  return calibration;
}

Calibration fit_start() {
  Calibration calibration = Calibration::standard();
  calibration.winograd = 1.6;
  calibration.host_port_GBps = 12;
  calibration.issue_us = 10;
  calibration.collective_scale = 0.7;
  calibration.dispatch_us = 5;
  calibration.step_us = 2000;
  calibration.input_sample_us = 90;
  calibration.input_GBps = 1;
  set_ramp(calibration, 5e7);
  calibration.of(OpFamily::Recurrent).half_flops = 3e8;
  return calibration;
}

Calibration fit(std::span<const StudyCase> cases, Calibration calibration,
                const std::function<void(const std::string&)>& progress) {
  std::vector<StudyCase> used;
  for (const StudyCase& study_case : cases)
    if (study_case.cell.calibrate && study_case.cell.seconds_or_speed) used.push_back(study_case);
  if (used.empty()) return calibration;
  Objective objective(std::move(used), calibration);
  return fit_parameters(kParameters, std::move(calibration), std::ref(objective), progress);
}

}  // namespace strato::cli
