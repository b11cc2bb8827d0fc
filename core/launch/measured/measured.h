// Turns the measured times of a launched plan into a timeline in the simulator's own format, and
// compares it with the simulated one: what differs, sorted by its effect. Teaches a cost model from
// it (FastT 4, adaptive cost models): its measured times become a profile.
//
// Pure; safe from any thread.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/cost/value/cost_model.h"
#include "core/cost/value/profile.h"
#include "core/launch/job/job_result.h"
#include "core/program/value/program.h"
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

// The profile holds the ops under their devices' GPU types, and the transfers and collectives that
// were measured with at least two sizes. Parts of an op that is split along an axis are left out: a
// profile knows whole ops. Empty when nothing was measured.
Profile learned_profile(const Timeline& measured);

// Why nothing can be learned from it, as a sentence; empty: there is something. An engine that
// replays simulated times says nothing about the ops, and ops that take less than a clock and the
// start of a kernel can tell apart were not measured. `engine`: the name of the one that ran.
std::string why_not_learned(const Timeline& measured, std::string_view engine);

// `known`, from before any run, with what runs taught. What both have is as it was in the runs;
// other sizes that were known of the same op, transfer or collective are moved by the same factor
// (the median over the sizes of the runs that lie between known ones), and left out where there is
// none: a cost model that scales through what was measured tells more than sizes of another
// machine.
Profile with_learned(const Profile& known, const Profile& learned);

// A program with the times of another cost model: the same tasks in the same places. `program` was
// lowered with `from`; both cost models are of its graph and cluster. Lowering the strategy again
// would divide model-parallel groups by the new times, and so make another program.
std::shared_ptr<const Program> retimed(const Program& program, const CostModel& from,
                                       const CostModel& to);

// Returns how far one program's task times are from another's of the same tasks, relative to those
// of `before`: the sum of the changes over the sum of the times. 0 for no time.
double change_of_times(const Program& before, const Program& after);

}  // namespace strato
