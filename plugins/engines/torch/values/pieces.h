// Parts of a tensor: cut and joined, and as they travel (Encoding). Include in .cpp files only.
#pragma once

#include <cstdint>
#include <vector>

#include "core/graph/value/graph.h"
#include "core/program/rank/rank_program.h"
#include "plugins/engines/torch/values/aten.h"

namespace strato::torch_engine {

// Tells whether all of `inner` is in `outer`.
bool holds(const Graph& graph, TensorId tensor, const Part& outer, const Part& inner);

// Cuts the part `to` out of a value that holds `from`: the result shares its memory, and is not
// contiguous as a rule. Samples of a merged axis (BatchLayout::blocks) are taken from every run.
// Precondition: holds(from, to).
at::Tensor cut(const at::Tensor& value, const Graph& graph, TensorId tensor, const Part& from,
               const Part& to);

// One tensor of all parts, which follow each other along what `to` is a part of.
at::Tensor joined(const std::vector<at::Tensor>& parts, const Graph& graph, TensorId tensor,
                  const std::vector<Part>& held, const Part& to);

// ---- Gradients as they travel.
//
// Records lie one after the other: a 64-bit number, then the bytes of a row or an element; of a low
// rank a column and a row. So those of several messages make one message, which stands for the sum
// of them.
//
// Low rank: PowerSGD (Vogels and others, 2019, Algorithm 1) of each term for itself: M of n x m is
// sent as P (n x r, orthonormal) and Q = M^T P (m x r), where P spans what M makes of random
// vectors that are the same in every step, multiplied by M M^T once more. Exact for a gradient of
// rank r or less. What is lost is lost: nothing is added to the next step's gradient (no error
// feedback), as with the other lossy encodings.

// SparseRows: no more rows than `slots` have an element that is not zero.
at::Tensor encoded(const at::Tensor& value, Encoding encoding, std::int64_t slots);
// Decodes a message to a tensor of the shape and type; records with the same number add up.
at::Tensor decoded(const at::Tensor& message, Encoding encoding, at::IntArrayRef shape,
                   at::ScalarType type);

}  // namespace strato::torch_engine
