#include "app/cli/tune_run.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>

#include "app/cli/launch_job.h"
#include "app/cli/stored_launch.h"
#include "core/base/error.h"
#include "core/launch/job/job_result.h"
#include "core/launch/measured/make_job.h"
#include "core/launch/measured/measured.h"

namespace strato::cli {
namespace {

// What the ranks are given: an engine that replays takes the tasks' durations.
Timeline timeline_to_run(const RoundSetting& setting, const TunePlan& plan) {
  Timeline timeline = *plan.predicted.timeline;
  if (setting.replayed)
    timeline.program = retimed(*timeline.program, *plan.problem.cost, *setting.replayed);
  return timeline;
}

// The device of "rank 3: ... memory ..."; nothing: it failed of something else.
std::optional<DeviceId> exhausted_device(std::string problem,
                                         const std::vector<DeviceId>& devices) {
  std::transform(problem.begin(), problem.end(), problem.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  constexpr std::string_view kRank = "rank ";
  const std::size_t at = problem.find(kRank);
  if (at == std::string::npos || problem.find("memory") == std::string::npos) return std::nullopt;
  std::size_t rank = 0;
  bool digits = false;
  for (std::size_t i = at + kRank.size(); i < problem.size() && i < at + kRank.size() + 6; ++i) {
    if (std::isdigit(static_cast<unsigned char>(problem[i])) == 0) break;
    rank = 10 * rank + static_cast<std::size_t>(problem[i] - '0');
    digits = true;
  }
  if (!digits || rank >= devices.size()) return std::nullopt;
  return devices[rank];
}

PlanRun failed_run(std::string problem) {
  PlanRun run;
  run.state = PlanRun::State::Failed;
  run.problem = std::move(problem);
  return run;
}

PlanRun run_of(const RoundSetting& setting, const Job& job, const JobEnd& end, JobFolder& folder) {
  PlanRun run;
  run.devices = devices_of(job);
  if (end.state == JobState::Finished) {
    run.result = read_result(folder.path());
  } else if (end.state == JobState::Cancelled || setting.interrupt.requested()) {
    run.state = PlanRun::State::Stopped;
  } else {
    folder.keep();
    run = failed_run(end.problem + "; logs are in " + folder.path().string());
    run.exhausted = exhausted_device(end.problem, devices_of(job));
  }
  return run;
}

void store_round(const RoundSetting& setting, const TunePlan& plan, const JobEnd& end,
                 const JobResult& result) {
  if (setting.workspace == nullptr) return;
  const Problem problem = problem_for(setting.problem, plan.strategy);
  const std::string label = fmt::format("{} {}: {}", setting.what, plan.round, plan.made_by);
  store_launch(
      *setting.workspace, setting.options,
      {setting.model, problem, plan.strategy, label, plan.predicted.score, setting.replayed.get()},
      end, result);
}

}  // namespace

PlanRun run_round(const RoundSetting& setting, const TunePlan& plan) {
  Job job;
  try {
    const Timeline timeline = timeline_to_run(setting, plan);
    const std::string& name = setting.model.name;
    const JobOptions options = setting.options.job_options();
    job = setting.replayed
              ? make_job(timeline, name, options, &plan.strategy)
              : make_job(timeline, {plan.problem, plan.strategy, setting.model.options.costs}, name,
                         options);
  } catch (const InputError& error) {  // its ranks might wait for each other
    store_round(setting, plan, {JobState::Failed, error.what()}, {});
    return failed_run(error.what());
  }
  job.predicted = plan.predicted.score.step_time;
  const std::string& given = setting.folder;
  JobFolder folder(given.empty() ? "" : fmt::format("{}/round-{}", given, plan.round),
                   setting.options.launcher != "local");
  stage_job(folder.path(), job);
  setting.interrupt.arm();
  const auto launched = plugins()
                            .launcher(setting.options.launcher)
                            ->launch(request_of(setting.options, job, folder.path()));
  const JobEnd end = follow(*launched, job.options, setting.interrupt, folder);
  PlanRun run = run_of(setting, job, end, folder);
  store_round(setting, plan, end, run.result);
  return run;
}

void PlanAndRunOptions::declare(CLI::App& command) {
  model.declare(command);
  command.add_option("--cluster", cluster, "Cluster file, or the name of a sample")->required();
  planner.declare(command, true);
  costs.declare(command);
  launch.declare(command);
  command.add_option("--rank-threads", launch.job.threads, "Of the CPU, for one op of a rank")
      ->capture_default_str()
      ->check(CLI::Range(1, 4096));
}

}  // namespace strato::cli
