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

namespace strato {

RankPrograms rank_programs(const Program& program, std::span<const TaskId> order);

// The same for one device alone: what it has in rank_programs(), to the bit, without making those
// of others. It takes the memory of one rank, where that of all grows with the square of their
// number, because each names all members of its collectives. Nothing: the device has no task.
std::optional<RankProgram> rank_program_of(const Program& program, std::span<const TaskId> order,
                                           DeviceId device);

}  // namespace strato
