// Functions of each element, of one tensor and of several that are broadcast, and their gradients.
// What a gradient kernel reads is the catalogue's rule: the output's gradient first. And optimizer
// updates.
#pragma once

#include "plugins/engines/torch/kernels/kernel.h"

namespace strato::torch_engine {

KernelTable elementwise_kernels();

}  // namespace strato::torch_engine
