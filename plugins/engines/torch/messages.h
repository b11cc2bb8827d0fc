// Gradients as they travel (Encoding), from and to tensors. Include in .cpp files only.
//
// Records lie one after the other: a 64-bit number, then the bytes of a row or an element. So those
// of several messages make one message, which stands for the sum of them.
#pragma once

#include "core/program/rank_program.h"
#include "plugins/engines/torch/aten.h"

namespace strato::torch_engine {

// SparseRows: no more rows than `slots` have an element that is not zero.
at::Tensor encoded(const at::Tensor& value, Encoding encoding, std::int64_t slots);
// Of the shape and type; records with the same number add up.
at::Tensor decoded(const at::Tensor& message, Encoding encoding, at::IntArrayRef shape,
                   at::ScalarType type);

}  // namespace strato::torch_engine
