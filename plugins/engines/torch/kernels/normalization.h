// Normalisations and softmax. Gradients find the statistics again: they read the input and
// the scale, as the catalogue says.
#pragma once

#include "plugins/engines/torch/kernels/kernel.h"

namespace strato::torch_engine {

KernelTable normalization_kernels();

}  // namespace strato::torch_engine
