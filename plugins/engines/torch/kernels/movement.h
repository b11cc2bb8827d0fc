// Ops that give elements another place: views, copies, lookups by index; and reductions.
#pragma once

#include "plugins/engines/torch/kernels/kernel.h"

namespace strato::torch_engine {

KernelTable movement_kernels();

}  // namespace strato::torch_engine
