// Finds the letters (letter_splits.h) along which rows that have the positions of samples among
// them (the role "context" of a mesh) may divide an op: no weight carries them. In a transformer
// these are positions, and in attention heads (Jacobs et al. 2023, DeepSpeed-Ulysses, 3.1).
#pragma once

#include <cstdint>

#include "core/graph/axes/letter_splits.h"

namespace strato {

// Which tensors are parameters, their gradients, or made of these alone. Pure; safe from any
// thread, as what is below.
using WeightTensors = IdVector<TensorId, std::uint8_t>;
WeightTensors weights_of(const Graph& graph);

// `split`: one of the op's letter_splits(). Partial sums of weights' gradients over the letter are
// fine, slices of these are not.
bool may_share_positions(const Op& op, const LetterSplit& split, const WeightTensors& weights);

}  // namespace strato
