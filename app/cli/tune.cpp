#include "core/launch/measured/tune.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "app/cli/command.h"
#include "app/cli/context.h"
#include "app/cli/interrupt.h"
#include "app/cli/launch_options.h"
#include "app/cli/output.h"
#include "app/cli/samples.h"
#include "app/cli/search.h"
#include "app/cli/simulation_options.h"
#include "app/cli/tune_report.h"
#include "app/cli/tune_run.h"
#include "core/base/error.h"
#include "core/base/quantity_text.h"
#include "core/cost/model/measured_cost_model.h"
#include "core/cost/value/profile.h"

namespace strato::cli {
namespace {

struct TuneCommand : PlanAndRunOptions {
  int rounds = 8;
  double stable = 0.05;
  std::string links = "exclusive", output, profile_output, workspace, folder;
  std::string replay_cluster;
  std::vector<std::string> replay_profiles;

  std::vector<std::filesystem::path> inputs() const {
    std::vector<std::filesystem::path> files = costs.files();
    files.insert(files.end(), {model_path(model.graph), cluster_path(cluster), workspace});
    if (!replay_cluster.empty()) files.push_back(cluster_path(replay_cluster));
    files.insert(files.end(), replay_profiles.begin(), replay_profiles.end());
    return files;
  }
  bool replays() const { return launch.job.engine.starts_with("replay"); }
  bool has_truth() const { return !replay_cluster.empty() || !replay_profiles.empty(); }
};

// All that can be wrong before anything is read that takes long.
void check(const TuneCommand& options) {
  options.launch.check();
  options.launch.settings();
  options.launch.job_options();
  plugins().planner(options.planner.planner);
  if (options.has_truth() && !options.replays()) {
    throw InputError("", options.replay_cluster.empty() ? "--replay-profile" : "--replay-cluster",
                     fmt::format("is of no use with the engine {}", options.launch.job.engine),
                     "leave it out, or take an engine that replays");
  }
  auto inputs = options.inputs();
  check_writable(options.output, inputs);
  inputs.emplace_back(options.output);
  check_writable(options.profile_output, inputs);
}

void check_same_devices(const Cluster& assumed, const Cluster& truth) {
  bool same = assumed.device_count() == truth.device_count();
  for (std::size_t i = 0; same && i < assumed.device_count(); ++i) {
    const Device &a = assumed.device(DeviceId(i)), &b = truth.device(DeviceId(i));
    same = a.name == b.name && a.type == b.type;
  }
  if (same) return;
  throw InputError(truth.name(), "--replay-cluster",
                   fmt::format("has not the devices of {}", assumed.name()),
                   "give the same machines with the same GPUs of other speeds");
}

// Null with an engine that computes. Replayed times do not follow what is learned from them: each
// round's lateness would be added to the next one's times.
std::shared_ptr<const CostModel> replayed_costs(const TuneCommand& options,
                                                const LoadedModel& model, const Problem& problem) {
  if (!options.replays()) return nullptr;
  if (!options.has_truth()) return problem.cost;
  CostOptions costs;
  costs.profiles = options.replay_profiles;
  costs.calibration = options.costs.calibration;
  auto cluster = problem.cluster;
  if (!options.replay_cluster.empty()) {
    cluster = load_cluster(options.replay_cluster);
    check_same_devices(*problem.cluster, *cluster);
  }
  return make_cost_model(problem.graph, cluster,
                         costs.empty() ? model.options.costs : costs.sources());
}

class PlanningLine final : public Observer {
 public:
  void on_progress(const Progress& progress) override {
    line_.show(fmt::format("planning: {} evaluations", progress.evaluations));
  }
  void clear() { line_.clear(); }

 private:
  ProgressLine line_;
};

// The best plan with the costs that it was made with, and what its runs took.
void write_best(const TuneCommand& options, LoadedModel model, const Problem& problem,
                const TuneResult& result) {
  const TuneRound& best = result.rounds[*result.best];
  model.options.costs.profile = std::make_shared<const Profile>(result.profile);
  Problem learned = problem;
  learned.cost = make_cost_model(problem.graph, problem.cluster, model.options.costs);
  SearchOutcome outcome;
  outcome.result.strategy = best.plan.strategy;
  outcome.constraints = options.planner.options().constraints;
  outcome.verdict = make_verdict(learned, best.plan.strategy, {true, options.links == "fair"});
  outcome.verdict.planner = best.plan.made_by;
  outcome.verdict.seed = options.planner.seed;
  outcome.verdict.own_groups = best.plan.strategy.grouping != nullptr;
  outcome.verdict.note = fmt::format("{} a step measured by tune", time_text(result.best_measured));
  write_plan_file(options.output, model, outcome);
}

// After every round: a run that is killed has left its best plan and what it learned.
void write_files(const TuneCommand& options, const LoadedModel& model, const Problem& problem,
                 const TuneResult& result) {
  if (!options.profile_output.empty() && !result.profile.empty()) {
    Profile profile = result.profile;
    profile.name = model.name + ", learned by tune";
    write_profile(options.profile_output, profile);
  }
  if (!options.output.empty() && result.best) write_best(options, model, problem, result);
}

int status_of(const TuneResult& result) {
  if (result.best) return Done;
  return result.rounds.empty() && result.end == TuneResult::End::Nothing ? Infeasible
                                                                         : ExternalFailure;
}

void report(const TuneCommand& options, const TuneResult& result, const Command& command) {
  if (command.json) return print(json_text(tune_json(result, command.wall_seconds())) + "\n");
  print(tune_text(result, command.wall_seconds()));
  if (!options.output.empty() && result.best) print("\nPlan written to " + options.output + "\n");
  if (!options.profile_output.empty() && !result.profile.empty())
    print("\nProfile written to " + options.profile_output + "\n");
  if (!options.workspace.empty()) print("\nRounds stored in " + options.workspace + "\n");
}

int tune(TuneCommand options, const Command& command) {
  Interrupt interrupt;
  options.launch.job.seed = options.planner.seed;
  check(options);
  const LoadedModel model = load_model(options.model, options.costs);
  const Problem problem = problem_of(model, load_cluster(options.cluster));
  std::optional<Workspace> workspace;
  if (!options.workspace.empty()) workspace.emplace(options.workspace);
  TuneOptions tuning;
  tuning.rounds = options.rounds;
  tuning.stable = options.stable;
  tuning.planner = options.planner.options();
  tuning.simulation.fair_links = options.links == "fair";
  tuning.costs = model.options.costs;
  const RoundSetting setting{options.launch, model,
                             problem,        replayed_costs(options, model, problem),
                             options.folder, workspace ? &*workspace : nullptr,
                             interrupt};
  PlanningLine planning;
  const auto run = [&](const TunePlan& plan) {
    planning.clear();
    return run_round(setting, plan);
  };
  const auto told = [&](const TuneResult& so_far) {
    if (!command.json) print(round_text(so_far.rounds.back()));
    std::fflush(stdout);
    write_files(options, model, problem, so_far);
  };
  interrupt.arm();
  const auto planner = plugins().planner(options.planner.planner);
  const TuneResult result =
      strato::tune(problem, *planner, tuning, run, told, planning, interrupt.token());
  planning.clear();
  report(options, result, command);
  return status_of(result);
}

void declare_files(CLI::App& sub, TuneCommand& options) {
  sub.add_option("-o,--output", options.output, "The best plan");
  sub.add_option("--profile-out", options.profile_output, "What was learned, as a profile");
  sub.add_option("--workspace", options.workspace, "Store every round as it ends (.strata)");
  sub.add_option("--job", options.folder,
                 "Folder of the rounds' jobs, which all nodes see; else temporary ones");
}

void declare_replay(CLI::App& sub, TuneCommand& options) {
  sub.add_option("--replay-cluster", options.replay_cluster,
                 "With --engine replay: ops take what the GPUs of this cluster take, which has the "
                 "same devices; the planner does not know it");
  sub.add_option("--replay-profile", options.replay_profiles,
                 "With --engine replay: ops take what this profile says; the planner does not know "
                 "it");
}

}  // namespace

void add_tune(CLI::App& app, Command& command) {
  CLI::App* sub = add_command(
      app, command, "tune",
      "Run, learn costs from what was measured, plan with them, and run again, until the costs are "
      "stable; roll back what is slower (FastT)");
  const auto options = std::make_shared<TuneCommand>();
  options->planner.planner = "fastt";
  options->declare(*sub);
  declare_links(*sub, options->links, "Of the prediction: ");
  sub->add_option("--rounds", options->rounds, "At most, those that fail included")
      ->capture_default_str()
      ->check(CLI::Range(1, 10'000));
  sub->add_option("--stable", options->stable,
                  "Stop when a round changes its plan's costs by less than this part")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 1.0));
  declare_files(*sub, *options);
  declare_replay(*sub, *options);
  sub->callback(
      [options, &command] { command.action = [=, &command] { return tune(*options, command); }; });
}

}  // namespace strato::cli
