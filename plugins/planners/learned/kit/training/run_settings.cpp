#include "plugins/planners/learned/kit/training/run_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace strato::learned {

OptionTable RunSettings::option_table() {
  return {{"start", start, "weights to begin with; empty: fresh ones"},
          {"device", device, "where the network computes: cpu, cuda, cuda:1"},
          {"held-out", held_out, {0, 1e6}, "searches that only measure; 0: none"},
          {"report", report, {1, 1e6}, "steps from point to point of the loss curve"},
          {"save", save_seconds, {0.01, 1e6}, "seconds between checkpoints"},
          {"patience", patience, {1, 1e6}, "seconds until a silent process is taken for lost"}};
}

std::string fingerprint(const std::vector<OptionHelp>& values) {
  constexpr std::array<std::string_view, 4> kShapesNothing = {"device", "report", "save",
                                                              "patience"};
  std::string text;
  for (const OptionHelp& option : values)
    if (std::ranges::find(kShapesNothing, option.name) == kShapesNothing.end())
      text += option.name + "=" + option.default_value + "\n";
  return text;
}

std::string full_fingerprint(const TrainingOptions& options, const std::string& fingerprint) {
  return fmt::format("seed={}\nprocesses={}\nrank={}\n{}", options.seed, options.processes,
                     options.rank, fingerprint);
}

double learning_rate(double rate, const TrainingOptions& options, std::int64_t steps,
                     double elapsed_seconds) {
  constexpr double kLast = 0.05, kWarmSteps = 20;
  const double done = options.budget_seconds > 0
                          ? elapsed_seconds / options.budget_seconds
                          : static_cast<double>(steps) /
                                static_cast<double>(std::max<std::int64_t>(options.steps, 1));
  const double fall = 0.5 * (1 + std::cos(std::numbers::pi * std::clamp(done, 0.0, 1.0)));
  const double warm = std::min(1.0, static_cast<double>(steps + 1) / kWarmSteps);
  return rate * warm * (kLast + (1 - kLast) * fall);
}

}  // namespace strato::learned
