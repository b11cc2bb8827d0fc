// Optimizer updates, in place on the parameter and its state. Inputs: parameter, gradient, state.
#pragma once

#include "plugins/engines/torch/kernels/kernel.h"

namespace strato::torch_engine {

KernelTable update_kernels();

}  // namespace strato::torch_engine
