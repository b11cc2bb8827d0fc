// One rank of a launched plan: the values of its program as tensors and the kernels of its
// instructions.
#pragma once

#include <memory>

#include "core/plugin/api/rank_engine.h"

namespace strato::torch_engine {

// Throws InputError: see RankEngine::prepare().
std::unique_ptr<RankExecution> make_rank_execution(std::shared_ptr<const Graph> graph,
                                                   std::shared_ptr<const RankProgram> program,
                                                   const EngineOptions& options);

}  // namespace strato::torch_engine
