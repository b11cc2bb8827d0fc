// What an instruction that several ranks take part in moves (internal to core/program).
#pragma once

#include <utility>
#include <vector>

#include "core/program/rank/rank_program.h"

namespace strato {

// Tensors and bytes of what it brings in; of a receive, of what comes; of an all-gather, of all
// that comes together. The same on both sides of a transfer, and on all members: a view's bytes may
// travel as its base's, which is named here.
std::vector<std::pair<TensorId, Bytes>> moved_by(const Graph& graph, const RankProgram& program,
                                                 std::size_t instruction);

}  // namespace strato
