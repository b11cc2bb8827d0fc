// Losses and their gradients. A loss is divided by the count of the whole batch, also on a shard.
#pragma once

#include "plugins/engines/torch/kernels/kernel.h"

namespace strato::torch_engine {

KernelTable loss_kernels();

}  // namespace strato::torch_engine
