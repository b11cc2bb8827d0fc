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

  OptionTable option_table() {
    return {
        {"sfb-check",
         check,
         {"model", "simulated"},
         "simulated: try the integer programs' choices in the simulator, class by class, and keep "
         "what helps; model: all of them as the paper counts, or none"},
        {"sfb-time",
         seconds_per_program,
         {.low = 0, .high = 3600, .above_low = true},
         "seconds for each integer program, at most"}};
  }
};

// Never worse than planned. A planned strategy's own duplicated ops stay.
PlanResult refine_by_sfb(const Problem& problem, Evaluator& evaluator, PlanResult planned,
                         const SfbRefinement& options, Observer& observer, std::stop_token stop);

}  // namespace strato
