// Sufficient factor broadcasting applied to a planned strategy, and tried in the simulator.
#pragma once

#include "core/program/sfb/sfb.h"
#include "core/search/api/planner.h"

namespace strato {

enum class SfbCheck : std::uint8_t {
  Model,      // the integer programs' choice, all of it or, where the step gets slower, nothing
  Simulated,  // see refine.cpp
};

struct SfbRefinement {
  SfbCheck check = SfbCheck::Simulated;
  double seconds_per_program = 1;
  int threads = 0;
};

// Never worse than planned. A planned strategy's own duplicated ops stay.
PlanResult refine_by_sfb(const Problem& problem, Evaluator& evaluator, PlanResult planned,
                         const SfbRefinement& options, Observer& observer, std::stop_token stop);

}  // namespace strato
