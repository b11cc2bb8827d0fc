// What of a model is trained, and in which precision: choices that change the graph before its
// training graph is made. Pure functions.
#pragma once

#include <string>
#include <vector>

#include "core/graph/value/graph.h"

namespace strato {

// The same model with frozen parameters: no gradient, no optimizer state. Patterns are of
// parameters' names; "*" stands for any text. `trainable`: where there is any, all else is frozen
// (adapters of LoRA); `frozen`: these in any case. Throws InputError for a pattern that no
// parameter has, and where nothing is left to train.
Graph with_frozen(const Graph& forward, const std::vector<std::string>& trainable,
                  const std::vector<std::string>& frozen);

// The same model trained in mixed precision, as frameworks do: what is computed is of `type`;
// parameters, and with them their gradients and optimizer states, are kept in 32 bits, and one Cast
// each ("NAME/cast") makes the copy that ops read. What is frozen, and constants, are kept in
// `type` alone. float32: all of it in 32 bits. Integers and 64 bits stay. Throws InputError unless
// `type` is F32, F16 or BF16.
Graph in_mixed_precision(const Graph& forward, DataType type);

}  // namespace strato
