// diff: two plans side by side, or more.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "app/cli/command.h"
#include "app/cli/context.h"
#include "app/cli/diff_report.h"
#include "app/cli/output.h"
#include "app/cli/simulation_options.h"
#include "core/base/error.h"
#include "core/compare/page/plans_html.h"
#include "core/io/file.h"
#include "core/search/evaluate/baselines.h"
#include "core/search/evaluate/outcome.h"

namespace strato::cli {
namespace {

constexpr std::size_t kMostPlans = 20;

struct DiffCommand {
  std::vector<std::string> plans;
  std::string graph, cluster, report;
  CostOptions costs;
  SimulationOptions simulation;
  bool all = false;

  PlanSource source(const std::string& plan) const { return {plan, graph, cluster, costs}; }
};

struct SimulatedPlan {
  std::string label;
  Problem problem;  // in the groups of the strategy
  Strategy strategy;
  Outcome outcome;
  std::vector<std::string> unmatched;

  PlanToCompare to_compare() const { return {label, problem, strategy, outcome}; }
};

SimulatedPlan simulated(const std::string& label, const Problem& problem, const Strategy& partial,
                        const SimulateOptions& options) {
  SimulatedPlan plan;
  plan.label = label;
  plan.strategy = complete(partial, *problem.cluster);
  plan.problem = problem_for(problem, plan.strategy);
  plan.outcome = simulate_outline(problem, plan.strategy, false, options);
  return plan;
}

SimulatedPlan load(const DiffCommand& options, const std::string& file) {
  const LoadedPlan loaded = load_plan(options.source(file));
  SimulatedPlan plan = simulated(std::filesystem::path(file).stem().string(), loaded.problem,
                                 loaded.strategy, options.simulation.options());
  plan.unmatched = loaded.unmatched;
  return plan;
}

// Other files of the same name are called by what was given.
void tell_apart(std::vector<SimulatedPlan>& plans, const std::vector<std::string>& given) {
  if (plans.size() != given.size()) return;
  std::vector<std::string> labels;
  for (const SimulatedPlan& plan : plans) labels.push_back(plan.label);
  for (std::size_t p = 0; p < plans.size(); ++p)
    for (std::size_t other = 0; other < plans.size(); ++other)
      if (labels[other] == labels[p] && given[other] != given[p]) plans[p].label = given[p];
}

void print_pair(const SimulatedPlan& from, const SimulatedPlan& to, const DiffCommand& options,
                const Command& command) {
  const PlanComparison comparison = compare_plans(from.to_compare(), to.to_compare());
  if (!options.report.empty()) write_file(options.report, comparison_html(comparison));
  if (!command.json) return print(comparison_text(comparison, options.all));
  Json json = comparison_json(comparison);
  json["from"]["unmatched"] = from.unmatched;
  json["to"]["unmatched"] = to.unmatched;
  json["wall_s"] = command.wall_seconds();
  print(json_text(json) + "\n");
}

void print_matrix(const std::vector<SimulatedPlan>& plans, const DiffCommand& options,
                  const Command& command) {
  std::vector<PlanToCompare> all;
  for (const SimulatedPlan& plan : plans) all.push_back(plan.to_compare());
  if (!options.report.empty()) write_file(options.report, plans_html(all));
  const PlanMatrix matrix = compare_many(all);
  if (!command.json) return print(matrix_text(matrix, options.all));
  Json json = matrix_json(matrix);
  for (std::size_t p = 0; p < plans.size(); ++p) json["plans"][p]["unmatched"] = plans[p].unmatched;
  json["wall_s"] = command.wall_seconds();
  print(json_text(json) + "\n");
}

int diff(const DiffCommand& options, const Command& command) {
  if (options.plans.size() > kMostPlans)
    throw InputError("", "--plan", fmt::format("is there {} times", options.plans.size()),
                     fmt::format("give at most {} plans", kMostPlans));
  std::vector<std::filesystem::path> inputs;
  for (const std::string& plan : options.plans) {
    const auto files = options.source(plan).files();
    inputs.insert(inputs.end(), files.begin(), files.end());
  }
  check_writable(options.report, inputs);
  std::vector<SimulatedPlan> plans;
  for (const std::string& file : options.plans) plans.push_back(load(options, file));
  if (plans.size() == 1)
    plans.insert(plans.begin(),
                 simulated("data parallel", plans.front().problem,
                           data_parallel(plans.front().problem), options.simulation.options()));
  tell_apart(plans, options.plans);
  for (const SimulatedPlan& plan : plans)
    for (const std::string& line : plan.unmatched) remark(plan.label + ": " + line);
  if (plans.size() == 2) {
    print_pair(plans.front(), plans.back(), options, command);
  } else {
    print_matrix(plans, options, command);
  }
  return plans.back().outcome.timeline->feasible ? Done : Infeasible;
}

}  // namespace

void add_diff(CLI::App& app, Command& command) {
  CLI::App* sub =
      add_command(app, command, "diff",
                  "Two plans, or more, side by side: what is decided otherwise, and what it does");
  const auto options = std::make_shared<DiffCommand>();
  sub->add_option(
         "--plan", options->plans,
         "A plan; given twice: from the first to the second; once: from data parallelism "
         "to it; more often: a table of all, in the op groups of the last one. They may be "
         "of other clusters, groups or models")
      ->required()
      ->allow_extra_args(false);
  sub->add_option("--graph", options->graph, "Another model for all: file or sample");
  sub->add_option("--cluster", options->cluster, "Another cluster for all: file or sample");
  options->costs.declare(*sub);
  sub->add_option("--report", options->report,
                  "Also write an HTML page with pictures, for people without this program");
  sub->add_flag("--all", options->all, "Every cause, group and variable, not only the largest");
  options->simulation.declare(*sub, "fifo; priority: the plans' own");
  sub->callback(
      [options, &command] { command.action = [=, &command] { return diff(*options, command); }; });
}

}  // namespace strato::cli
