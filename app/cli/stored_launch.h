// What was launched, with its strategy, in a workspace.
#pragma once

#include <string>

#include "app/cli/context.h"
#include "app/cli/launch_job.h"
#include "app/cli/launch_options.h"
#include "core/launch/job/job_result.h"
#include "core/search/api/evaluator.h"

namespace strato::cli {

struct LaunchedPlan {
  const LoadedModel& model;
  const Problem& problem;  // in the groups of the strategy
  const Strategy& strategy;
  std::string label;
  Score predicted;
  const CostModel* replayed = nullptr;  // what ops take in truth, of engines that replay; null: as
                                        // the problem says
};

// How a job was launched: the same text, the same way. `replayed`: the costs that an engine which
// replays takes its times from; for others they say nothing.
std::string launch_options_text(const LaunchOptions& options, const CostModel& replayed);

// `result`: of a job that finished.
void store_launch(Workspace& workspace, const LaunchOptions& options, const LaunchedPlan& plan,
                  const JobEnd& end, const JobResult& result);

}  // namespace strato::cli
