// A rank's program as a file: compact, with version and checksum.
#pragma once

#include <string>
#include <string_view>

#include "core/program/rank/rank_program.h"

namespace strato {

std::string write_rank_program(const RankProgram& program);
// Throws InputError (file: `name`) for anything that write_rank_program() did not make; ids are in
// range of `graph` then.
RankProgram read_rank_program(std::string_view bytes, const Graph& graph, const std::string& name);

// Ids are in range of the graph, parts of their tensors; every instruction has the reads and
// writes of its kind, of sizes that fit; values are written once, before they are read, and not
// used after their release; waits are for earlier instructions. Throws InputError (file: `name`).
// It is part of reading.
void validate_rank_program(const RankProgram& program, const Graph& graph, const std::string& name);

}  // namespace strato
