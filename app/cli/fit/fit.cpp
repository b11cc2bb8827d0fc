// fit: does a strategy fit in memory, what is in it, and what would make it fit.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "app/cli/command.h"
#include "app/cli/fit/fit_report.h"
#include "app/cli/output.h"
#include "app/cli/samples.h"
#include "app/cli/search.h"
#include "core/cluster/vary/changed_cluster.h"
#include "core/search/evaluate/simulating_evaluator.h"
#include "core/search/run/problem_change.h"
#include "core/search/run/run_planner.h"

namespace strato::cli {
namespace {

struct FitOptions {
  ModelOptions model;
  CostOptions costs;
  std::string cluster, plan, output;
  PlannerChoice planner;
  double allowance = 0.05;
};

// A strategy, and what it is for.
struct Subject {
  LoadedModel model;
  Problem problem;  // in the groups of the strategy, with what is left of each device's memory
  Strategy strategy;
  std::string planner;
  std::shared_ptr<const Cluster> cluster = {};  // with all of it
};

std::shared_ptr<const Cluster> left_over(const std::shared_ptr<const Cluster>& cluster,
                                         double allowance) {
  ClusterChange change;
  change.memory = 1 - allowance;
  return with_name(change_cluster(cluster, change).cluster, cluster->name());
}

Subject planned(const FitOptions& options, Interrupt& interrupt) {
  const PlannerOptions given = options.planner.options();
  const auto planner = plugins().planner(options.planner.planner);
  Subject subject;
  subject.model = load_model(options.model, options.costs);
  subject.cluster = load_cluster(options.cluster);
  const Problem problem = problem_of(subject.model, left_over(subject.cluster, options.allowance));
  PlannerOptions own = given;
  own.floor = false;  // it is asked about, whatever else fits
  Observer observer;
  interrupt.arm();
  const PlanResult result = run_planner(*planner, problem, own, observer, interrupt.token());
  subject.strategy = result.strategy;
  subject.problem = problem_for(problem, result.strategy);
  subject.planner = options.planner.planner;
  return subject;
}

Subject stored(const FitOptions& options, Interrupt& interrupt) {
  LoadedPlan plan = load_plan({options.plan, options.model.graph, options.cluster, options.costs});
  for (const std::string& line : plan.unmatched) remark(line);
  interrupt.arm();
  Problem problem = plan.problem;
  problem.cluster = left_over(problem.cluster, options.allowance);
  problem.cost = make_cost_model(problem.graph, problem.cluster, plan.model.options.costs);
  return {plan.model, problem, plan.strategy, plan.planner, plan.problem.cluster};
}

std::vector<std::filesystem::path> files_of(const FitOptions& options) {
  if (!options.plan.empty())
    return PlanSource{options.plan, options.model.graph, options.cluster, options.costs}.files();
  std::vector<std::filesystem::path> files = options.costs.files();
  files.insert(files.end(), {model_path(options.model.graph), cluster_path(options.cluster)});
  return files;
}

Bytes peak_of(const Problem& problem, const Strategy& strategy) {
  const Outcome outcome = simulate_outline(problem_for(problem, strategy), strategy, false);
  return outcome.timeline->devices[fullest_device(*outcome.timeline)].peak;
}

// As the planner for large models has it, in the groups of the strategy.
void plan_anew(FitReport& report, const FitOptions& options, ProgressLine& line,
               const std::stop_token& stop) {
  if (report.feasible() || !report.found.plans.empty() || stop.stop_requested()) return;
  line.show("no small change fits: meshes looks for another layout");
  PlannerOptions meshes;
  meshes.threads = options.planner.threads;
  meshes.floor = false;
  Observer observer;
  try {
    report.anew = run_planner(*plugins().planner("meshes"), report.problem, meshes, observer, stop);
  } catch (const InputError&) {
    return;  // a model that cannot be computed in micro-batches
  }
  if (report.anew->score.feasible)
    report.anew_peak = peak_of(report.problem, report.anew->strategy);
}

// The first plan that fits, and what made it: the strategy itself, a changed one, or another
// layout.
struct Fitting {
  const Strategy* strategy = nullptr;  // nothing fits
  std::string planner;
};
Fitting first_fitting(const FitReport& report, const Subject& subject) {
  if (report.feasible()) return {&subject.strategy, subject.planner};
  if (!report.found.plans.empty())
    return {&report.found.plans.front().strategy, subject.planner + ", changed by fit"};
  if (report.anew && report.anew->score.feasible) return {&report.anew->strategy, "meshes"};
  return {};
}

void write_fitting(const FitOptions& options, const Subject& subject, const FitReport& report) {
  if (options.output.empty()) return;
  const auto [fits, planner] = first_fitting(report, subject);
  if (fits == nullptr)
    return remark(fmt::format("{} is not written: nothing fits", options.output));
  Problem whole = subject.problem;
  whole.cluster = subject.cluster;
  whole.cost = make_cost_model(whole.graph, whole.cluster, subject.model.options.costs);
  SearchOutcome outcome;
  outcome.result.strategy = *fits;
  outcome.verdict = make_verdict(whole, *fits);
  outcome.verdict.planner = planner;
  write_plan_file(options.output, subject.model, outcome);
}

int fit(const FitOptions& options, const Command& command) {
  Interrupt interrupt;
  if (options.plan.empty() && (options.model.graph.empty() || options.cluster.empty()))
    throw InputError("", "fit", "is given no model and cluster",
                     "write fit MODEL CLUSTER, or fit --plan FILE");
  check_writable(options.output, files_of(options));
  const Subject subject =
      options.plan.empty() ? planned(options, interrupt) : stored(options, interrupt);
  FitReport report{subject.problem, {}, subject.planner, options.allowance, {}, {}, {}};
  report.outcome = simulate_outline(subject.problem, subject.strategy, false);
  ProgressLine line;
  const auto evaluator = make_simulating_evaluator(subject.problem, options.planner.threads, true);
  report.found = fitting_plans(subject.problem, subject.strategy, *evaluator, interrupt.token(),
                               [&](std::size_t done, std::size_t all) {
                                 line.show(fmt::format("{} of {} changes tried", done, all));
                               });
  plan_anew(report, options, line, interrupt.token());
  line.clear();
  write_fitting(options, subject, report);
  print(command.json ? json_text(fit_json(report, command.wall_seconds())) + "\n"
                     : fit_text(report));
  return report.feasible() ? Done : Infeasible;
}

}  // namespace

void add_fit(CLI::App& app, Command& command) {
  CLI::App* sub = add_command(app, command, "fit",
                              "Will it fit in memory, what is in it, and what makes it fit");
  const auto options = std::make_shared<FitOptions>();
  sub->add_option("model", options->model.graph, "Model: a file, or the name of a sample");
  sub->add_option("cluster", options->cluster, "Cluster: a file, or the name of a sample");
  options->model.declare_without_graph(*sub);
  sub->add_option("--plan", options->plan, "Ask about this plan instead of a planner's");
  options->planner.planner = "dp-allreduce";
  options->planner.declare(*sub, true);
  options->costs.declare(*sub);
  sub->add_option("--allowance", options->allowance,
                  "Part of each device's memory that is left to allocator and libraries")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 0.9));
  sub->add_option("-o,--output", options->output, "Write the first plan that fits here");
  sub->callback(
      [options, &command] { command.action = [=, &command] { return fit(*options, command); }; });
}

}  // namespace strato::cli
