// The graph config of AutoDist's representation (2.2): which devices hold replicas, and how much of
// the batch each of them has; and plans to begin with on each of them.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "core/search/api/problem.h"
#include "plugins/planners/learned/autodist/search/sampler.h"

namespace strato::autodist {

// Data parallel on the fastest 2, 3, 4, 6, 8, 12, ... devices, machine by machine, on as many whole
// machines, and on those of the fastest GPU types alone: fewer than all of them, ascending by their
// number.
std::vector<Strategy> on_fewer_devices(const Problem& problem);

// Data parallel with AllReduce, without node configs, none twice: equal shares on all devices,
// first; shares by speed; those of `known` strategies; with `fewer` those of fewer devices.
std::vector<Strategy> replications_of(const Problem& problem, std::span<const Strategy> known,
                                      bool fewer);

// What a strategy that the caller knows already (PlannerOptions::seeds) says of each variable;
// nothing: it is no plan on the task's base, or has what the sampler does not make (an order of the
// ring, sufficient factors).
std::optional<SyncPlan> plan_of(const SyncTask& task, const Strategy& strategy);

// Plans of the kinds that a search finds: gradients in messages of 64 MB, and none, the first half
// to have a gradient, or all of the larger variables kept in parts.
std::vector<SyncPlan> likely_plans(const SyncTask& task, const SamplerOptions& sampler);

}  // namespace strato::autodist
