// trials: a planner whose evaluations are runs on real workers (AutoDist), or simulated ones with
// noise.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "app/cli/command.h"
#include "app/cli/context.h"
#include "app/cli/interrupt.h"
#include "app/cli/launch_options.h"
#include "app/cli/output.h"
#include "app/cli/recorder.h"
#include "app/cli/samples.h"
#include "app/cli/search.h"
#include "app/cli/trial_store.h"
#include "app/cli/trials_report.h"
#include "app/cli/tune_run.h"
#include "core/base/error.h"
#include "core/launch/measured/tune.h"
#include "core/search/constraints/bound_constraints.h"
#include "core/search/evaluate/baselines.h"
#include "core/search/evaluate/outcome.h"
#include "core/search/run/run_planner.h"
#include "core/search/tree/search_tree.h"

namespace strato::cli {
namespace {

constexpr const char* kSimulator = "simulator";

struct TrialsCommand : PlanAndRunOptions {
  double noise = 0;
  std::string output, workspace, folder;

  bool simulates() const { return launch.launcher == kSimulator; }
  std::string where() const {
    return simulates() ? fmt::format("{}, noise {}", kSimulator, noise)
                       : launch.launcher + ", " + launch.job.engine;
  }
};

// All that can be wrong before anything is read that takes long.
void check(const TrialsCommand& options) {
  if (!options.simulates()) {
    options.launch.check();
    options.launch.settings();
    options.launch.job_options();
  }
  if (options.noise > 0 && !options.simulates())
    throw InputError("", "--noise", "is of trials on the simulator only",
                     "leave it out, or add --launcher simulator");
  plugins().planner(options.planner.planner);
  auto inputs = options.costs.files();
  inputs.insert(inputs.end(), {model_path(options.model.graph), cluster_path(options.cluster),
                               options.workspace});
  check_writable(options.output, inputs);
}

// Best and curve, but no tree: the trials are in the workspace one by one.
class TrialObserver final : public Observer {
 public:
  explicit TrialObserver(Recorder& recorder) : recorder_(recorder) {}
  void on_progress(const Progress& progress) override { recorder_.on_progress(progress); }
  void on_improvement(const Strategy& strategy, const Score& score,
                      const Progress& progress) override {
    recorder_.on_improvement(strategy, score, progress);
  }

 private:
  Recorder& recorder_;
};

// As the run is stored.
PlannerOptions stored_options(const TrialsCommand& options) {
  PlannerOptions stored = options.planner.options();
  stored.set[kTrialsOn] = options.where();
  return stored;
}

void write_trials_plan(const TrialsCommand& options, const LoadedModel& model,
                       const Problem& problem, const TrialsResult& result) {
  SearchOutcome outcome;
  outcome.result = result.plan;
  outcome.constraints = options.planner.options().constraints;
  outcome.verdict = make_verdict(problem, result.plan.strategy);
  outcome.verdict.planner = options.planner.planner;
  outcome.verdict.seed = options.planner.seed;
  outcome.verdict.evaluations = result.plan.evaluations;
  outcome.verdict.own_groups = result.plan.strategy.grouping != nullptr;
  outcome.verdict.note = fmt::format("{:.6f} s a step measured by trials ({})",
                                     to_seconds(result.plan.score.step_time), options.where());
  write_plan_file(options.output, model, outcome);
}

int status_of(const TrialsResult& result) {
  if (result.plan.score.feasible) return Done;
  return result.failed() > 0 ? ExternalFailure : Infeasible;
}

int search_by_trials(TrialsCommand options, const Command& command) {
  Interrupt interrupt;
  options.launch.job.seed = options.planner.seed;
  check(options);
  const LoadedModel model = load_model(options.model, options.costs);
  const Problem problem = problem_of(model, load_cluster(options.cluster));
  std::optional<Workspace> workspace;
  if (!options.workspace.empty()) workspace.emplace(options.workspace);
  const RoundSetting round{options.launch, model,          problem,
                           nullptr,        options.folder, workspace ? &*workspace : nullptr,
                           interrupt,      "trial"};
  const PlannerOptions planner_options = options.planner.options();
  Recorder recorder(problem, options.planner.planner, stored_options(options));
  TrialsSetting setting;
  setting.run = options.simulates() ? simulated_trials(options.noise, options.planner.seed)
                                    : [&](const TunePlan& plan) { return run_round(round, plan); };
  std::size_t number = 0;
  setting.report = [&](const Trial& trial) {
    if (!command.json && !options.simulates()) print(trial_text(number, trial));
    std::fflush(stdout);
    if (number++ == 0 && trial.score.feasible) recorder.set_baseline(trial.score.step_time);
  };
  const auto planner = plugins().planner(options.planner.planner);
  refuse_unknown_options(*planner, planner_options);  // before anything is stored
  bind_constraints(planner_options.constraints.get(), problem);
  if (workspace) {
    if (!options.simulates())
      setting.known = known_trials(*workspace, options.launch, model, problem);
    remove_unfinished_runs(*workspace, options.planner.planner, stored_options(options), model,
                           problem);
    recorder.record(*workspace, model,
                    simulate_strategy(problem, data_parallel(problem)).score.step_time);
  }
  TrialObserver observer(recorder);
  interrupt.arm();
  TrialsResult result;
  try {
    result =
        plan_by_trials(problem, *planner, planner_options, setting, observer, interrupt.token());
  } catch (...) {
    recorder.finish(nullptr, RunState::Failed);
    throw;
  }
  result.plan.tree.reset();
  const bool found = !result.plan.strategy.groups.empty();
  recorder.finish(found ? &result.plan : nullptr,
                  interrupt.requested() ? RunState::Stopped : RunState::Finished);
  if (!options.output.empty() && result.plan.score.feasible)
    write_trials_plan(options, model, problem, result);
  print(command.json ? json_text(trials_json(result, command.wall_seconds())) + "\n"
                     : trials_text(result, command.wall_seconds()));
  return status_of(result);
}

}  // namespace

void add_trials(CLI::App& app, Command& command) {
  CLI::App* sub = add_command(
      app, command, "trials",
      "Search with a planner whose evaluations are runs on real workers (AutoDist). Trials that "
      "fail "
      "teach it, too. With --workspace every trial is stored as it ends, and the same command goes "
      "on where it was killed or stopped");
  const auto options = std::make_shared<TrialsCommand>();
  options->planner.planner = "autodist";
  options->planner.iterations = 40;
  options->declare(*sub);
  sub->add_option("--noise", options->noise,
                  "With --launcher simulator, where no cluster is: spread of measured times, as a "
                  "part of them; follows from --seed")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 1.0));
  sub->add_option("-o,--output", options->output, "The best plan");
  sub->add_option("--workspace", options->workspace, "Store the run and its trials (.strata)");
  sub->add_option("--job", options->folder,
                  "Folder of the trials' jobs, which all nodes see; else temporary ones");
  sub->callback([options, &command] {
    command.action = [=, &command] { return search_by_trials(*options, command); };
  });
}

}  // namespace strato::cli
