// Writes what follows attention in a layer: a feed-forward part, or experts.
//
// Experts have room for as many tokens of a sample as are theirs when all get equally many:
// ceil(sequence * chosen / experts). A token for which there is no room is left out, as with
// capacity factor 1 (GShard, Lepikhin et al. 2021).
#pragma once

#include <string>

#include "plugins/importers/transformers/build/writer.h"

namespace strato::transformers_import {

// [batch, sequence, width] -> the same. `prefix` is the layer's ("model.layers.0.").
TensorId write_feed_forward(Writer& writer, const FeedForward& feed, const std::string& prefix,
                            TensorId x);
TensorId write_experts(Writer& writer, const Experts& experts, const std::string& prefix,
                       TensorId x);

}  // namespace strato::transformers_import
