// What fills a stretch of a recorded run, added up: what each rank does, kernels by name, and
// communication by collective and group. Pure; safe from any thread.
#pragma once

#include <optional>
#include <vector>

#include "core/trace/analyse/communication.h"
#include "views/models/selection.h"
#include "views/traces/figure_table.h"
#include "views/traces/recorded_run.h"

namespace strato {

struct RangeFigures {
  std::vector<RangeTimes> ranks;  // as those of the run
  // Of all ranks together, or of one; those that begin in the stretch.
  std::vector<trace::KernelTime> kernels;              // most time first
  std::vector<trace::CommunicationSum> communication;  // most exposed time first
};
// Without a range: of the whole run.
RangeFigures figures_in(const RecordedRun& run, const std::optional<TimeRange>& range,
                        const std::optional<std::size_t>& only_rank);

// As tables; the rows of ranks are in their order, and those that are late are strong.
FigureRows rank_rows(const RecordedRun& run, const RangeFigures& figures);
FigureRows kernel_rows(const RecordedRun& run, const RangeFigures& figures);
FigureRows communication_rows(const RangeFigures& figures);

}  // namespace strato
