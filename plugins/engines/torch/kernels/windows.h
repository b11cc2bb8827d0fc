// Ops with a sliding window: convolutions, and pooling over two spatial axes, with their gradients
// as separate kernels, as the catalogue has them. The gradient of a maximum finds the maxima again,
// because it reads the input.
#pragma once

#include "plugins/engines/torch/kernels/kernel.h"

namespace strato::torch_engine {

KernelTable window_kernels();

}  // namespace strato::torch_engine
