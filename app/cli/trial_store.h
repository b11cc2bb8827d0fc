// Trials in a workspace: each is a launch of its strategy; a search that is begun again answers
// from them what was run already.
#pragma once

#include <string>

#include "app/cli/context.h"
#include "app/cli/launch_options.h"
#include "core/launch/measured/tune.h"
#include "core/store/workspace.h"

namespace strato::cli {

// The option of a stored run that says what its trials ran on ("local, replay"): no planner has it,
// so that nobody goes on with measured times as if they were simulated ones.
inline constexpr const char* kTrialsOn = "trials-on";

// What was launched in the same way for this model and cluster. A launch that was cancelled counts
// as none; of several of one strategy the latest one counts.
KnownTrial known_trials(Workspace& workspace, const LaunchOptions& options,
                        const LoadedModel& model, const Problem& problem);

// A run of the same search that did not come to its end, and is not under way: the search is done
// again from its stored trials, and its run stands for both.
void remove_unfinished_runs(Workspace& workspace, const std::string& planner,
                            const PlannerOptions& options, const LoadedModel& model,
                            const Problem& problem);

}  // namespace strato::cli
