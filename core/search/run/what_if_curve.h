// One parameter of the problem varied over a range, all others as a change has them; and the number
// of machines varied (scaling). What the points are; simulating them is the caller's.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/search/evaluate/outcome.h"
#include "core/search/run/problem_change.h"

namespace strato {

enum class WhatIfAxis { Batch, NetworkBandwidth, MachineBandwidth, Latency, Speed, Memory };
inline constexpr int kWhatIfAxes = 6;
// "batch", "network", "links", "latency", "speed", "memory".
std::string_view name_of(WhatIfAxis axis);
std::optional<WhatIfAxis> what_if_axis_from(std::string_view name);

double value_of(const ProblemChange& change, WhatIfAxis axis, const Problem& problem);
// `base` with the parameter at `value` (of the batch: rounded, at least 1).
ProblemChange with_value(const ProblemChange& base, WhatIfAxis axis, double value);
// `points` values from `low` to `high` in equal factors, ascending, each once (batches are whole).
// Throws InputError unless 0 < low < high and points >= 2.
std::vector<double> what_if_values(WhatIfAxis axis, double low, double high, int points);
// Returns the values of the parameter that people usually want: factors 1/4 to 8, batches 1/8 to 8
// times today's.
std::vector<double> usual_values(WhatIfAxis axis, const Problem& problem);

// The cluster with 1, 2, 4, ... of a kind of machines, and as many as it has; up to `most`. A kind
// that is named in `base` has that number there. Strong: the batch stays; weak: the batch grows
// with the number of devices.
struct ScalingPoint {
  std::int64_t machines = 0;  // of the kind
  std::size_t devices = 0;    // of the whole cluster
  ProblemChange strong, weak;
};
std::vector<ScalingPoint> scaling_points(const Problem& problem, const ProblemChange& base,
                                         const MachineKind& kind, std::int64_t most);

// A strategy and data parallelism beside it, on one changed problem.
struct WhatIfPoint {
  StepFigures strategy, data_parallel;
  std::string problem;  // why there are no figures; empty: there are
};
using Simulate = std::function<Outcome(const Problem&, const Strategy&)>;
// Problems that cannot be had (a batch too large) are told in the point.
WhatIfPoint what_if_point(ProblemChanger& changer, const Strategy& strategy,
                          const ProblemChange& change, const Simulate& simulate);

}  // namespace strato
