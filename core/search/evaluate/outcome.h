// Everything about one strategy, for a person or an export.
#pragma once

#include <memory>

#include "core/search/api/evaluator.h"
#include "core/sim/engine/simulate.h"

namespace strato {

struct Outcome {
  std::shared_ptr<const Program> program;
  std::shared_ptr<const Timeline> timeline;
  Score score;
};
Outcome simulate_strategy(const Problem& problem, const Strategy& strategy,
                          bool with_feedback = true, const SimulateOptions& options = {});

}  // namespace strato
