// Data for charts, apart from drawing: what a chart shows at most, and the steps of a search's
// progress.
#pragma once

#include <QPointF>
#include <vector>

#include "core/store/workspace.h"

namespace strato {

inline constexpr std::size_t kMostPoints = 2000;  // Qt Charts is slow past that

// The best step time (ms) over evaluations as a staircase: two points for every improvement,
// decimated to `most` points; the first and last stay. Points without a best so far are left out.
std::vector<QPointF> best_over_evaluations(const std::vector<HistoryPoint>& history,
                                           std::size_t most = kMostPoints);

// At most `most` points: of each run of neighbours the first, the lowest and the highest stay.
std::vector<QPointF> decimated(const std::vector<QPointF>& points, std::size_t most);

// The loss of a training over its steps, decimated; `held_out`: where it was measured.
std::vector<QPointF> loss_over_steps(const std::vector<LossPoint>& losses, bool held_out,
                                     std::size_t most = kMostPoints);

// What the step-time axis shows (ms): the curve without its first twentieth, which falls steeply;
// the baseline and the bound where they lie near; never a curve squeezed into a line.
struct StepRange {
  double low = 0, high = 1, tick = 0.2;
};
StepRange step_range(const std::vector<QPointF>& curve, double baseline, double bound);

// A round number at or above `value` (1, 2, 2.5, 5 times a power of ten), for the end of an axis.
double round_up(double value);

}  // namespace strato
