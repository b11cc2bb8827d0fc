// What must hold for a value of a rank's program that came from a file (internal to core/program).
#pragma once

#include "core/program/rank/rank_program.h"
#include "core/program/rank/rank_refusal.h"

namespace strato {

// The piece is cut along axes of the tensor, ascending, within them.
bool is_cut_of(const Tensor& tensor, const Piece& piece);

// Its tensor is in range of the graph, its piece and encoding are possible for that.
void check_value(const Value& value, const Graph& graph, const RankRefusal& refusal);

}  // namespace strato
