// The rate of learning, from the beginning of a training to its end.
#pragma once

#include <cstdint>

#include "core/search/api/trainer.h"

namespace strato::learned {

// Returns the rate of the next step: `rate`, towards which it rises over the first 20 steps, and
// from which it falls as a cosine to a twentieth. The end is where the options' budget of seconds,
// or else their steps, end.
double learning_rate(double rate, const TrainingOptions& options, std::int64_t steps,
                     double elapsed_seconds);

}  // namespace strato::learned
