#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <exception>

#include "app/cli/command.h"
#include "app/cli/context.h"
#include "app/cli/interrupt.h"
#include "app/cli/launch_data.h"
#include "app/cli/launch_job.h"
#include "app/cli/launch_options.h"
#include "app/cli/launch_report.h"
#include "app/cli/output.h"
#include "app/cli/report.h"
#include "app/cli/simulation_options.h"
#include "app/cli/stored_launch.h"
#include "core/base/error.h"
#include "core/io/file.h"
#include "core/launch/job/job.h"
#include "core/launch/job/job_result.h"
#include "core/launch/measured/make_job.h"
#include "core/search/evaluate/outcome.h"

namespace strato::cli {
namespace {

namespace fs = std::filesystem;

struct LaunchCommand : LaunchOptions {
  PlanSource source;
  LaunchData data;
  std::string links = "exclusive", folder, trace, workspace;
  std::string attach;  // a job that was launched before

  JobOptions options() const {
    JobOptions options = job_options();
    options.keep_parameters = !data.keep.empty();
    return options;
  }
};

// "slurm" of --attach slurm:4711.
std::string launcher_of(const LaunchCommand& options) {
  const std::size_t colon = options.attach.find(':');
  if (colon == std::string::npos || options.folder.empty()) {
    throw InputError("", "--attach", "needs the job and its folder",
                     "write --attach slurm:4711 --job FOLDER");
  }
  return options.attach.substr(0, colon);
}

// Stages the job and starts it, or finds one that was launched with the same plan. `job` gets the
// options that it was staged with.
std::unique_ptr<LaunchedJob> start(const LaunchCommand& options, Job& job, const fs::path& folder,
                                   Interrupt& interrupt) {
  const auto launcher = plugins().launcher(options.launcher);
  if (options.attach.empty()) {
    stage_job(folder, job);
    interrupt.arm();
    auto launched = launcher->launch(request_of(options, job, folder));
    if (options.launcher != "local")
      remark(fmt::format("job {} in {}", launched->id(), folder.string()));
    return launched;
  }
  const RankJob staged = load_rank(folder, 0);
  if (staged.digest != job_digest(job)) {
    throw InputError(folder.string(), "", "is the job of another plan",
                     "give the plan, and the options, that it was launched with");
  }
  options.data.check_kept(staged.options);
  job.options = staged.options;
  interrupt.arm();
  return launcher->attach(options.attach, folder);
}

void warn_of_memory(const Timeline& timeline) {
  for (const std::string& reason : infeasible_reasons(timeline))
    remark("the plan does not fit: " + reason);
}

void store(const LaunchCommand& options, const LoadedPlan& plan, const Outcome& outcome,
           const JobEnd& end, const JobResult& result) {
  if (options.workspace.empty()) return;
  Workspace workspace(options.workspace);
  const std::string label = "launched plan" + (plan.planner.empty() ? "" : " of " + plan.planner);
  store_launch(workspace, options, {plan.model, plan.problem, plan.strategy, label, outcome.score},
               end, result);
}

void write_trace(const LaunchCommand& options, const LoadedPlan& plan, const Outcome& outcome,
                 const Timeline& measured) {
  if (options.trace.empty()) return;
  Outcome as_measured = outcome;
  as_measured.timeline = std::make_shared<const Timeline>(measured);
  write_file(options.trace,
             plugins().exporter("chrome-trace")->write({plan.problem, plan.strategy, as_measured}));
}

// What a job that has finished left: kept, compared, stored and told.
int finish(const LaunchCommand& options, const LoadedPlan& plan, const Outcome& outcome,
           const Job& job, const fs::path& folder, const Command& command) {
  options.data.keep_parameters(folder, job.options.steps);
  LaunchReport report{options.launcher, job.options, read_result(folder), {}};
  const Timeline measured = measured_timeline(*outcome.timeline, report.result, devices_of(job));
  report.comparison = compare_timelines(*outcome.timeline, measured, report.result.step_time);
  write_trace(options, plan, outcome, measured);
  store(options, plan, outcome, {JobState::Finished, ""}, report.result);
  print(command.json ? json_text(launch_json(report, command.wall_seconds())) + "\n"
                     : launch_text(report, command.wall_seconds()));
  return Done;
}

int launch(LaunchCommand options, const Command& command) {
  Interrupt interrupt;
  if (!options.attach.empty()) options.launcher = launcher_of(options);
  check_writable(options.trace, options.source.files());
  options.data.check(options.attach.empty() ? options.folder : "");
  options.check();  // before anything that takes long
  const LoadedPlan plan = load_plan(options.source);
  for (const std::string& line : plan.unmatched) remark(line);
  const Outcome outcome =
      simulate_strategy(plan.problem, plan.strategy, false, {true, options.links == "fair"});
  warn_of_memory(*outcome.timeline);
  Job job = make_job(*outcome.timeline, {plan.problem, plan.strategy, plan.model.options.costs},
                     plan.model.name, options.options());
  if (options.attach.empty()) options.data.add_to(job, plan.model);
  JobFolder folder(options.folder, options.launcher != "local");
  const auto launched = start(options, job, folder.path(), interrupt);
  options.job = job.options;
  const JobEnd end = follow(*launched, job.options, interrupt, folder);
  if (end.state != JobState::Finished) {
    if (end.state == JobState::Failed) folder.keep();
    store(options, plan, outcome, end, {});
    return report_unfinished(end, "the job failed", folder, command);
  }
  try {
    return finish(options, plan, outcome, job, folder.path(), command);
  } catch (const std::exception&) {
    folder.keep();
    remark("the job has finished, and what it left is in " + folder.path().string());
    throw;
  }
}

void declare_job(CLI::App& sub, LaunchCommand& options) {
  JobOptions& job = options.job;
  sub.add_option("--threads", job.threads, "Of the CPU, for one op")
      ->capture_default_str()
      ->check(CLI::Range(1, 4096));
  sub.add_option("--seed", job.seed, "Of parameters and synthetic inputs")->capture_default_str();
  sub.add_option("--checkpoint-every", job.checkpoint_every, "Steps; 0: no checkpoints")
      ->capture_default_str()
      ->check(CLI::Range(0, 1'000'000'000));
  sub.add_option("--resume", job.resume, "A checkpoint in the folder of --job: checkpoint-5");
}

}  // namespace

void add_launch(CLI::App& app, Command& command) {
  CLI::App* sub = add_command(app, command, "launch", "Run a plan on real processes");
  const auto options = std::make_shared<LaunchCommand>();
  options->source.declare(*sub);
  declare_links(*sub, options->links, "Of the prediction: ");
  options->declare(*sub);
  sub->add_option("--job", options->folder,
                  "Folder of the job, which all nodes see; else a temporary one");
  sub->add_option("--attach", options->attach,
                  "Follow a job that was launched before, as slurm:4711; with its --job");
  sub->add_option("--workspace", options->workspace, "Store what was measured (.strata)");
  sub->add_option("--trace", options->trace,
                  "Write the measured timeline as a Chrome trace (ui.perfetto.dev)");
  options->data.declare(*sub);
  declare_job(*sub, *options);
  sub->callback([options, &command] {
    command.action = [=, &command] { return launch(*options, command); };
  });
}

}  // namespace strato::cli
