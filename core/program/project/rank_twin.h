// The program of one rank out of a program in which twins are left out (symmetry.h): what it has in
// that of all devices, to the bit, without lowering those of others. Two-stage rewriting (AutoDist
// 2.3): the strategy travels, and each rank lowers its own part.
#pragma once

#include <optional>
#include <span>

#include "core/graph/group/grouping.h"
#include "core/program/place/symmetry.h"
#include "core/program/rank/rank_program.h"
#include "core/strategy/value/strategy.h"

namespace strato {

// `folded`: of this (complete) strategy, `order`: of its tasks, as rank_programs() wants it.
// Nothing: the device has no task, or it is not known how its program follows from its twin's,
// because there is other communication than AllReduces: ask rank_program_of() then.
std::optional<RankProgram> rank_program_of_twin(const Program& folded,
                                                std::span<const TaskId> order, const Fold& fold,
                                                const Strategy& strategy, DeviceId device);

}  // namespace strato
