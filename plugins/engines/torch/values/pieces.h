// Cutting and joining the parts of a tensor. Include in .cpp files only.
#pragma once

#include <cstdint>
#include <vector>

#include "core/graph/value/graph.h"
#include "core/program/rank/rank_program.h"
#include "plugins/engines/torch/values/aten.h"

namespace strato::torch_engine {

// Tells whether all of `inner` is in `outer`.
bool holds(const Tensor& tensor, const Part& outer, const Part& inner, std::int64_t batch);

// Cuts the part `to` out of a value that holds `from`: the result shares its memory, and is not
// contiguous as a rule. Samples of a merged axis (BatchLayout::blocks) are taken from every run.
// Precondition: holds(from, to).
at::Tensor cut(const at::Tensor& value, const Tensor& tensor, const Part& from, const Part& to,
               std::int64_t batch);

// One tensor of all parts, which follow each other along what `to` is a part of.
at::Tensor joined(const std::vector<at::Tensor>& parts, const Tensor& tensor,
                  const std::vector<Part>& held, const Part& to, std::int64_t batch);

}  // namespace strato::torch_engine
