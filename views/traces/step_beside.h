// A recorded step beside a simulated one: the same rows of both, and the causes of the difference.
// Pure functions; safe from any thread.
#pragma once

#include <optional>
#include <string>

#include "core/compare/compare_plans.h"
#include "core/sim/timeline/timeline.h"
#include "views/traces/recorded_run.h"

namespace strato {

// One for each device, from the begin of the step at 0.
std::vector<RankRow> simulated_rows(const std::shared_ptr<const Timeline>& timeline);

// From the simulated step to the recorded one: means over devices, and over the steady steps of all
// ranks. The causes (computing, exposed communication by kind, copies, waiting for the host, idle)
// add up to the difference. Nothing where no step was found.
std::optional<PlanComparison> compare_step(const Timeline& timeline,
                                           const std::vector<RankRow>& simulated,
                                           const std::string& label, const RecordedRun& run);

// "Recorded steps take 24.1 ms, 3.2 ms more (15 %) than simulated: …"
std::string sentence_of_step(const PlanComparison& comparison);

}  // namespace strato
