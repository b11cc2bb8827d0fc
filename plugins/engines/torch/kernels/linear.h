// Products of matrices, with their gradients as separate kernels, as the catalogue has them.
#pragma once

#include "plugins/engines/torch/kernels/kernel.h"

namespace strato::torch_engine {

KernelTable linear_kernels();

}  // namespace strato::torch_engine
