// Local changes of a plan, beyond the paper: one variable's config, or that of neighbours, changes
// while the others stay. Like samples they keep to the sampler's constraints and are exact.
#pragma once

#include "plugins/planners/learned/autodist/search/sampler.h"

namespace strato::autodist {

// The plan with one to a few changes, each of them:
// - a variable, or a run of adjacent ones, gets another random config, servers where loads are
//   least;
// - the message of a variable is cut in two there, or joined with the one before or after it;
// - a variable leaves its message, or goes to the one of the variable before or after it;
// - all messages are made anew, of another size;
// - a variable is divided in another way, or not; its servers move; its stations come or go;
// - replicas keep a run of adjacent variables in parts, or whole again.
// Variables with many bytes are changed more often. Differs from `plan` where it can.
SyncPlan changed_plan(const SyncTask& task, const SyncPlan& plan, const SamplerOptions& options,
                      Random& random);

// Takes a run of adjacent variables from `other`, the rest from `plan`. Messages of the two stay
// apart.
SyncPlan crossed_plan(const SyncTask& task, const SyncPlan& plan, const SyncPlan& other,
                      Random& random);

}  // namespace strato::autodist
