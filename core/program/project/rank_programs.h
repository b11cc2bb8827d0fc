// The programs of ranks, projected from a program: two-stage rewriting (AutoDist 2.3). Pure; safe
// from any thread.
//
// `order`: every task once, each after its dependencies; as a rule by start in the simulated
// timeline. Throws InvariantError naming the task when the program does not compute what its graph
// says.
#pragma once

#include <optional>
#include <span>

#include "core/program/rank/rank_program.h"
#include "core/strategy/value/strategy.h"

namespace strato {

struct Fold;  // core/program/place/symmetry.h

// Throws InputError for an outline (Program::is_outline).
RankPrograms rank_programs(const Program& program, std::span<const TaskId> order);

// The same for one device alone: what it has in rank_programs(), to the bit, without making those
// of others. It takes the memory of one rank, where that of all grows with the square of their
// number, because each names all members of its collectives. Nothing: the device has no task.
std::optional<RankProgram> rank_program_of(const Program& program, std::span<const TaskId> order,
                                           DeviceId device);

// The same out of a program in which twins are left out (symmetry.h): what the device has in that
// of all devices, to the bit, without lowering those of others. The strategy travels, and each rank
// lowers its own part.
//
// `folded`: of this (complete) strategy, `order`: of its tasks, as rank_programs() wants it.
// Nothing: the device has no task, or it is not known how its program follows from its twin's,
// because there is other communication than AllReduces: ask rank_program_of() then.
std::optional<RankProgram> rank_program_of_twin(const Program& folded,
                                                std::span<const TaskId> order, const Fold& fold,
                                                const Strategy& strategy, DeviceId device);

}  // namespace strato
