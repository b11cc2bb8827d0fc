// What a schedule would wait for if nothing came between: each cell takes as long as its pass, and
// what it makes is there at once. Pure; deterministic; safe from any thread.
#pragma once

#include <array>
#include <vector>

#include "core/sim/pipeline/stage_rows.h"

namespace strato {

// By chunk how long a micro-batch takes in each pass (PassKind).
using PassTimes = std::vector<std::array<Nanos, 3>>;
// What they took, on average over micro-batches, waits within cells left out.
PassTimes pass_times(const StageRows& rows, const StagePlan& plan);
// The same work, as much of it in each chunk.
PassTimes equal_times(const PassTimes& times);

struct PassesLength {
  Nanos length;       // of all passes: until the last one has ended
  double bubble = 0;  // the part of it in which stages compute none of them, on average
};
// As they ran.
PassesLength passes_as_run(const StageRows& rows, const StagePlan& plan, const PassTimes& times);
// Of a table that can go on (StagePlan::order).
PassesLength ideal_schedule(const ScheduleTable& table, const StagePlan& plan,
                            const PassTimes& times);

}  // namespace strato
