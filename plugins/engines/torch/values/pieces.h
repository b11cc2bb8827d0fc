// Cutting and joining the pieces of a tensor. Include in .cpp files only.
#pragma once

#include <cstdint>
#include <vector>

#include "core/graph/value/graph.h"
#include "core/program/rank/rank_program.h"
#include "plugins/engines/torch/values/aten.h"

namespace strato::torch_engine {

// Tells whether all of `inner` is in `outer`.
bool holds(const Tensor& tensor, const Piece& outer, const Piece& inner, std::int64_t batch);

// Cuts the piece `to` out of a value that holds `from`: the result shares its memory, and is not
// contiguous as a rule. Samples of a merged axis (BatchLayout::blocks) are taken from every run.
// Precondition: holds(from, to).
at::Tensor cut(const at::Tensor& value, const Tensor& tensor, const Piece& from, const Piece& to,
               std::int64_t batch);

// One tensor of all parts, which follow each other along what `to` is a piece of.
at::Tensor joined(const std::vector<at::Tensor>& parts, const Tensor& tensor,
                  const std::vector<Piece>& pieces, const Piece& to, std::int64_t batch);

}  // namespace strato::torch_engine
