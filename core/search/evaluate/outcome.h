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
// Throws InputError as Lowering does.
Outcome simulate_strategy(const Problem& problem, const Strategy& strategy,
                          bool with_feedback = true, const SimulateOptions& options = {});
// The same figures; of a program that is too large to write out, or to look at, only those devices
// have tasks that no other one's stand for (Timeline::like).
Outcome simulate_outline(const Problem& problem, const Strategy& strategy,
                         bool with_feedback = true, const SimulateOptions& options = {});

}  // namespace strato
