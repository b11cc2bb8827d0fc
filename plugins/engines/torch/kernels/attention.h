// Attention of ONNX, by heads that may share keys and values (grouped queries), and the rotation of
// positions that goes before it.
#pragma once

#include "plugins/engines/torch/kernels/kernel.h"

namespace strato::torch_engine {

KernelTable attention_kernels();

}  // namespace strato::torch_engine
