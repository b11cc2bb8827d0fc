// Pooling over two spatial axes. The gradient of a maximum finds the maxima again, because it reads
// the input, as the catalogue says.
#pragma once

#include "plugins/engines/torch/kernels/kernel.h"

namespace strato::torch_engine {

KernelTable pooling_kernels();

}  // namespace strato::torch_engine
