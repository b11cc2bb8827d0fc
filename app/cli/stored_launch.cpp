#include "app/cli/stored_launch.h"

#include "core/launch/job/job_result.h"
#include "core/strategy/file/named_strategy.h"

namespace strato::cli {
namespace {

LaunchState stored_state(JobState state) {
  return state == JobState::Finished    ? LaunchState::Finished
         : state == JobState::Cancelled ? LaunchState::Cancelled
                                        : LaunchState::Failed;
}

StrategyRow store_strategy(Workspace& workspace, const LaunchedPlan& plan) {
  StoredStrategy strategy;
  strategy.model = workspace.add(row_of(plan.model, plan.problem));
  strategy.cluster = workspace.add(row_of(*plan.problem.cluster));
  strategy.origin = Origin::Import;
  strategy.label = plan.label;
  strategy.json = strategy_json(name_strategy(plan.strategy, *plan.problem.graph,
                                              *plan.problem.grouping, *plan.problem.cluster));
  strategy.digest = plan.strategy.digest();
  strategy.step_time_ns = plan.predicted.step_time.value;
  strategy.feasible = plan.predicted.feasible;
  return workspace.add(strategy);
}

}  // namespace

std::string launch_options_text(const LaunchOptions& options, const CostModel& replayed) {
  Json json = {{"engine", options.job.engine},   {"transport", options.job.transport},
               {"device", options.job.device},   {"steps", options.job.steps},
               {"warm_up", options.job.warm_up}, {"threads", options.job.threads},
               {"timeout", options.timeout},     {"set", options.settings()}};
  if (options.job.learning_rate) json["learning_rate"] = *options.job.learning_rate;
  if (options.job.engine == "replay") json["costs"] = replayed.digest().hex();
  return json_text(json);
}

void store_launch(Workspace& workspace, const LaunchOptions& options, const LaunchedPlan& plan,
                  const JobEnd& end, const JobResult& result) {
  StoredLaunch launch;
  launch.strategy = store_strategy(workspace, plan);
  launch.launcher = options.launcher;
  launch.options =
      launch_options_text(options, plan.replayed != nullptr ? *plan.replayed : *plan.problem.cost);
  launch.state = stored_state(end.state);
  launch.predicted_ns = plan.predicted.step_time.value;
  launch.measured_ns = result.step_time.value;
  launch.note = end.problem;
  if (launch.state == LaunchState::Finished) launch.result = result_text(result);
  workspace.add(launch);
}

}  // namespace strato::cli
