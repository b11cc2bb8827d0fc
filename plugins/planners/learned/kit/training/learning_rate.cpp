#include "plugins/planners/learned/kit/training/learning_rate.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace strato::learned {

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
