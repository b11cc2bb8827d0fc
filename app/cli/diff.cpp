// diff: two plans side by side.
#include <CLI/CLI.hpp>

#include "app/cli/command.h"
#include "app/cli/context.h"
#include "app/cli/diff_report.h"
#include "app/cli/output.h"
#include "app/cli/simulation_options.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/compare/comparison_html.h"
#include "core/search/baselines.h"

namespace strato::cli {
namespace {

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
  plan.outcome = simulate_strategy(problem, plan.strategy, false, options);
  return plan;
}

SimulatedPlan load(const DiffCommand& options, const std::string& file) {
  const LoadedPlan loaded = load_plan(options.source(file));
  SimulatedPlan plan = simulated(std::filesystem::path(file).stem().string(), loaded.problem,
                                 loaded.strategy, options.simulation.options());
  plan.unmatched = loaded.unmatched;
  return plan;
}

int diff(const DiffCommand& options, const Command& command) {
  if (options.plans.size() > 2)
    throw InputError("", "--plan", "is there more than twice", "give one plan or two");
  std::vector<std::filesystem::path> inputs;
  for (const std::string& plan : options.plans) {
    const auto files = options.source(plan).files();
    inputs.insert(inputs.end(), files.begin(), files.end());
  }
  check_writable(options.report, inputs);
  SimulatedPlan to = load(options, options.plans.back());
  SimulatedPlan from = options.plans.size() == 2
                           ? load(options, options.plans.front())
                           : simulated("data parallel", to.problem, data_parallel(to.problem),
                                       options.simulation.options());
  if (from.label == to.label && options.plans.front() != options.plans.back()) {
    from.label = options.plans.front();
    to.label = options.plans.back();
  }
  for (const SimulatedPlan* plan : {&from, &to})
    for (const std::string& line : plan->unmatched) remark(plan->label + ": " + line);
  const PlanComparison comparison = compare_plans(from.to_compare(), to.to_compare());
  if (!options.report.empty()) write_file(options.report, comparison_html(comparison));
  if (command.json) {
    Json json = comparison_json(comparison);
    json["from"]["unmatched"] = from.unmatched;
    json["to"]["unmatched"] = to.unmatched;
    json["wall_s"] = command.wall_seconds();
    print(json_text(json) + "\n");
  } else {
    print(comparison_text(comparison, options.all));
  }
  return to.outcome.timeline->feasible ? Done : Infeasible;
}

}  // namespace

void add_diff(CLI::App& app, Command& command) {
  CLI::App* sub = add_command(
      app, command, "diff", "Two plans side by side: what is decided otherwise, and what it does");
  const auto options = std::make_shared<DiffCommand>();
  sub->add_option("--plan", options->plans,
                  "A plan; given twice: from the first to the second; once: from data parallelism "
                  "to it. They may be of other clusters, groups or models")
      ->required()
      ->allow_extra_args(false);
  sub->add_option("--graph", options->graph, "Another model for both: file or sample");
  sub->add_option("--cluster", options->cluster, "Another cluster for both: file or sample");
  options->costs.declare(*sub);
  sub->add_option("--report", options->report, "Also write an HTML page with pictures");
  sub->add_flag("--all", options->all, "Every cause, group and variable, not only the largest");
  options->simulation.declare(*sub, "fifo; priority: the plans' own");
  sub->callback([options, &command] {
    command.action = [=, &command] { return diff(*options, command); };
  });
}

}  // namespace strato::cli
