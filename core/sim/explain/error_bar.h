// Says how sure the step time is. Pure functions of a timeline; deterministic; safe from any
// thread.
#pragma once

#include "core/cost/value/cost_model.h"
#include "core/sim/timeline/timeline.h"

namespace strato {

// The step time's error bar: errors of one source and op family (or kind of communication) go
// together, different ones are independent; along the critical path.
struct ErrorBar {
  Nanos low, high;                            // one standard error below and above
  double relative = 0;                        // of the step time
  double analytic = 0, fit = 0, profile = 0;  // shares of the critical path's time by source
};
ErrorBar error_bar(const Timeline& timeline, const CostModel& cost);

// The cost of one task with its source.
Estimate explain_task(const Timeline& timeline, TaskId task, const CostModel& cost);

}  // namespace strato
