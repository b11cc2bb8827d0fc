// Products of matrices, and ops with a sliding window: convolutions, and pooling over two spatial
// axes. Their gradients are separate kernels, as the catalogue has them; the gradient of a maximum
// finds the maxima again, because it reads the input.
#pragma once

#include "plugins/engines/torch/kernels/kernel.h"

namespace strato::torch_engine {

KernelTable linear_kernels();
KernelTable window_kernels();

}  // namespace strato::torch_engine
