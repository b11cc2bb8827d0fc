// The numbers that never leave the screen, computed from a snapshot: how fast, compared with what,
// and does it fit.
#pragma once

#include <optional>
#include <vector>

#include "core/sim/explain/error_bar.h"
#include "views/models/session.h"

namespace strato {

struct DeviceFullness {
  DeviceId device;
  Bytes peak, capacity;
  double fraction() const { return peak / capacity; }
};

struct VitalSigns {
  Nanos step_time;
  bool feasible = true;
  std::optional<double> speedup;  // times data parallel; nothing while the baseline is unknown
  bool baseline_feasible = true;
  std::optional<double> over_bound;      // step time / lower bound
  DeviceFullness worst;                  // the fullest device
  std::vector<DeviceFullness> too_full;  // fullest first
  std::optional<Nanos> delta;            // since the last edit, when there was one
  double delta_fraction = 0;
  std::optional<ErrorBar> error;  // of the step time; nothing while it is computed
};
std::optional<VitalSigns> vital_signs(const Snapshot& snapshot);  // nothing without an outcome

// One line: "does not fit: 1080ti-0:1 needs 12.3 GB of 11 GB (and 3 more)".
QString why_infeasible(const VitalSigns& signs, const Cluster& cluster);

}  // namespace strato
