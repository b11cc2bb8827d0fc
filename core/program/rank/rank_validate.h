// What must hold for a rank's program that came from a file (internal to core/program).
#pragma once

#include <string>

#include "core/program/rank/rank_program.h"

namespace strato {

// Ids are in range of the graph, pieces of their tensors; every instruction has the reads and
// writes of its kind, of sizes that fit; values are written once, before they are read, and not
// used after their release; waits are for earlier instructions. Throws InputError (file: `name`).
void validate_rank_program(const RankProgram& program, const Graph& graph, const std::string& name);

}  // namespace strato
