// A graph's step on one device: its tensors and the kernels of its ops.
#pragma once

#include <memory>

#include "core/plugin/api/engine.h"

namespace strato::torch_engine {

// Throws InputError: see Engine::prepare().
std::unique_ptr<Execution> make_execution(std::shared_ptr<const Graph> graph,
                                          const EngineOptions& options);

}  // namespace strato::torch_engine
