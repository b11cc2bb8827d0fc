// What was launched, with its strategy, in a workspace.
#pragma once

#include <string>

#include "app/cli/context.h"
#include "app/cli/launch_job.h"
#include "app/cli/launch_options.h"
#include "core/search/evaluator.h"

namespace strato::cli {

struct LaunchedPlan {
  const LoadedModel& model;
  const Problem& problem;  // in the groups of the strategy
  const Strategy& strategy;
  std::string label;
  Score predicted;
};

// How a job was launched: the same text, the same way.
std::string launch_options_text(const LaunchOptions& options);

// `result`: of a job that finished.
void store_launch(Workspace& workspace, const LaunchOptions& options, const LaunchedPlan& plan,
                  const JobEnd& end, const JobResult& result);

}  // namespace strato::cli
