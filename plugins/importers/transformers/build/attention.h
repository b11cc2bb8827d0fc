// Writes attention: queries, keys and values by heads, and what they make of each other.
#pragma once

#include <string>

#include "plugins/importers/transformers/build/writer.h"

namespace strato::transformers_import {

// What all layers of a stack read beside their input; invalid: there is none.
struct Shared {
  TensorId cosines, sines, places;  // of rotary positions: [positions, pairs], twice; and
                                    // [1, positions]
  TensorId bias;                    // added to the scores: of each head and pair of positions
  TensorId mask;                    // the same where later positions are hidden, if written out
  bool flash = true;                // one op Attention; else it is written out
};

// The tables that positions turn heads by, for `count` positions.
void add_rotation(Writer& writer, Shared& shared, const Description& model, std::int64_t count);
// A straight line for each head (Press et al. 2021): [1, heads, 1, positions].
TensorId slopes(Writer& writer, std::int64_t heads, std::int64_t count);
// Minus infinity right of the diagonal: [positions, positions].
TensorId causal_mask(Writer& writer, std::int64_t count);

// [batch, queries, width] -> the same, from `memory` ([batch, keys, width]; x itself where the
// attention is to itself). `prefix` is the layer's ("model.layers.0.").
TensorId write_attention(Writer& writer, const Attention& attention, const Shared& shared,
                         const std::string& prefix, TensorId x, TensorId memory, bool causal);

}  // namespace strato::transformers_import
