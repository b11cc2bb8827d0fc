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

}  // namespace strato
