// Tokens on their way to the experts of a mixture and back (core/graph/ops/expert_rules.h), and the
// choice of the experts.
#pragma once

#include "plugins/engines/torch/kernels/kernel.h"

namespace strato::torch_engine {

KernelTable expert_kernels();

}  // namespace strato::torch_engine
