// Ranks that train a strategy with the engine that is shipped.
#pragma once

#include <memory>

#include "tests/plugins/engines/rank/in_process_run.h"
#include "tests/plugins/engines/rank/net_problem.h"

namespace strato {

const RankEngine& rank_engine();

// After some steps in any order that their programs allow, which were staged and read again.
std::unique_ptr<InProcessRun> staged_run(const RandomProblem& problem, const Strategy& strategy,
                                         Random& random, int steps);

}  // namespace strato
