// Teaches a cost model from a launched plan (FastT 4, adaptive cost models): its measured times
// become a profile. Pure; safe from any thread.
#pragma once

#include <memory>

#include "core/cost/value/cost_model.h"
#include "core/cost/value/profile.h"
#include "core/program/value/program.h"
#include "core/sim/engine/simulate.h"

namespace strato {

// The profile holds the ops under their devices' GPU types, and the transfers and collectives that
// were measured with at least two sizes. Parts of an op that is split along an axis are left out: a
// profile knows whole ops. Empty when nothing was measured.
Profile learned_profile(const Timeline& measured);

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
