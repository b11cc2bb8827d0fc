// What can be wrong with what a planner is asked for, before it begins.
#pragma once

#include "core/search/planner.h"

namespace strato {

// Throws InputError for a key in options.set that the planner does not list.
void refuse_unknown_options(const Planner& planner, const PlannerOptions& options);

}  // namespace strato
