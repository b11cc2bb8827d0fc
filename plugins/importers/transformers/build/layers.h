// Writes the layers of a stack, one after the other, and the norm behind them.
#pragma once

#include "plugins/importers/transformers/build/attention.h"

namespace strato::transformers_import {

// [batch, sequence, width] -> the same. `memory`: what another stack made, for cross attention;
// invalid where there is none.
TensorId write_stack(Writer& writer, const Description& model, const Stack& stack,
                     const Shared& shared, TensorId x, TensorId memory);

}  // namespace strato::transformers_import
