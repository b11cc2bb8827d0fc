// Turns the measured times of a launched plan into a timeline in the simulator's own format, and
// compares it with the simulated one: what differs, sorted by its effect.
//
// Values; safe to read from any thread.
#pragma once

#include <string>
#include <vector>

#include "core/launch/job/job_result.h"
#include "core/sim/engine/simulate.h"

namespace strato {

// Where several ranks took part in a task, a transfer or a collective, its start is the last rank's
// (before, the others only waited for it) and its end is the last rank's. Tasks that were not
// measured take no time. `devices`: by rank.
Timeline measured_timeline(const Timeline& predicted, const JobResult& result,
                           const std::vector<DeviceId>& devices);

// Time of the same tasks, as simulated and as measured.
struct Difference {
  std::string name;  // an op; or "v100:0 -> v100:1", "AllReduce of 4 devices"
  int tasks = 0;
  Nanos predicted, measured;
  Nanos effect() const { return measured - predicted; }
};
struct Comparison {
  Nanos predicted, measured;        // step time
  std::vector<Difference> devices;  // compute streams, in the order of devices; of those with tasks
  std::vector<Difference> ops;      // largest effect first, whatever its sign
  std::vector<Difference> links;    // the same, of communication
  double error() const {
    return measured / predicted - 1;
  }  // of the prediction's: 0.1 = 10 % slower
};
// Both of the same program. `step_time`: what was measured over all steps.
Comparison compare_timelines(const Timeline& predicted, const Timeline& measured, Nanos step_time);

}  // namespace strato
