// Strategies that the caller knows already (PlannerOptions::seeds), as algorithm 1 can take them
// up.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/search/api/evaluator.h"
#include "plugins/planners/learned/autodist/plan/sync_task.h"

namespace strato::autodist {

// Data parallelism of it alone, which a search may begin from; nothing: it is something else.
std::optional<Strategy> base_of(const Strategy& strategy);

// What it says of each variable; nothing: it is no plan on the task's base, or has what the sampler
// does not make (an order of the ring, sufficient factors).
std::optional<SyncPlan> plan_of(const SyncTask& task, const Strategy& strategy);

struct WarmStart {
  Strategy strategy;
  Score score;
};
// The best of them; each is evaluated once. Nothing: there are none.
std::optional<WarmStart> best_start(std::vector<Strategy> strategies, Evaluator& evaluator);

std::vector<Strategy> completed(std::span<const Strategy> known, const Cluster& cluster);

// The same for the same strategies; empty: there are none.
std::string digest_of_starts(std::span<const Strategy> known);

}  // namespace strato::autodist
