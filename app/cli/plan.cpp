#include <CLI/CLI.hpp>

#include "app/cli/command.h"
#include "app/cli/output.h"
#include "app/cli/samples.h"
#include "app/cli/search.h"
#include "core/base/error.h"
#include "core/search/run/usual_planner.h"

namespace strato::cli {
namespace {

struct PlanOptions {
  ModelOptions model;
  CostOptions costs;
  std::string cluster, workspace, output;
  PlannerChoice planner;
};

int plan(const PlanOptions& options, const Command& command) {
  Interrupt interrupt;
  const PlannerOptions planner_options = options.planner.options();
  const std::string& named = options.planner.planner;
  if (!named.empty()) plugins().planner(named);  // an unknown name fails before the model is read
  std::vector<std::filesystem::path> others = options.costs.files();
  others.insert(others.end(), {model_path(options.model.graph), cluster_path(options.cluster),
                               options.workspace});
  check_writable(options.output, others);
  const LoadedModel model = load_model(options.model, options.costs);
  const Problem problem = problem_of(model, load_cluster(options.cluster));
  std::optional<Workspace> workspace;
  if (!options.workspace.empty()) workspace.emplace(options.workspace);
  SearchJob job;
  job.model = &model;
  job.problem = &problem;
  job.planner = named.empty() ? std::string(usual_planner(problem)) : named;
  job.options = planner_options;
  job.interrupt = &interrupt;
  if (workspace) job.workspace = &*workspace;
  const SearchOutcome outcome = search(job);
  if (!options.output.empty()) write_plan_file(options.output, model, outcome);
  if (command.json) {
    print(json_text(verdict_json(outcome.verdict, command.wall_seconds())) + "\n");
  } else {
    print(verdict_text(outcome.verdict, command.wall_seconds()));
    if (outcome.run)
      print("\nStored as run " + std::to_string(*outcome.run) + " of " + options.workspace + "\n");
    if (!options.output.empty()) print("\nPlan written to " + options.output + "\n");
  }
  return outcome.verdict.feasible() ? Done : Infeasible;
}

}  // namespace

void add_plan(CLI::App& app, Command& command) {
  CLI::App* sub = add_command(app, command, "plan", "Search for a strategy");
  const auto options = std::make_shared<PlanOptions>();
  options->model.declare(*sub);
  sub->add_option("--cluster", options->cluster,
                  "Cluster file, or the name of a sample (see list clusters)")
      ->required();
  options->planner.planner.clear();
  options->planner.declare(*sub, true);
  options->costs.declare(*sub);
  sub->add_option("--workspace", options->workspace,
                  "Store model, cluster, run and result here (.strata)");
  sub->add_option("-o,--output", options->output, "Plan file to write");
  sub->callback(
      [options, &command] { command.action = [=, &command] { return plan(*options, command); }; });
}

}  // namespace strato::cli
