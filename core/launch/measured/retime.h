// A program with the times of another cost model: the same tasks in the same places.
//
// Pure; safe from any thread.
#pragma once

#include <memory>

#include "core/cost/value/cost_model.h"
#include "core/program/value/program.h"

namespace strato {

// `program` was lowered with `from`; both cost models are of its graph and cluster. Lowering the
// strategy again would divide model-parallel groups by the new times, and so make another program.
std::shared_ptr<const Program> retimed(const Program& program, const CostModel& from,
                                       const CostModel& to);

// Returns how far one program's task times are from another's of the same tasks, relative to those
// of `before`: the sum of the changes over the sum of the times. 0 for no time.
double change_of_times(const Program& before, const Program& after);

}  // namespace strato
