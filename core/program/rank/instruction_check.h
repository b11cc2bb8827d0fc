// What must hold for an instruction of a rank's program that came from a file (internal to
// core/program).
#pragma once

#include "core/program/rank/rank_program.h"
#include "core/program/rank/rank_refusal.h"

namespace strato {

// The instruction has the operands of its kind, of sizes that fit, and waits for earlier ones.
// All values of the program have been checked.
void check_instruction(const RankProgram& program, std::size_t instruction, const Graph& graph,
                       const RankRefusal& refusal);

}  // namespace strato
