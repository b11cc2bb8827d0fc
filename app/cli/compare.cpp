#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>

#include "app/cli/command.h"
#include "app/cli/compare_report.h"
#include "app/cli/context.h"
#include "app/cli/interrupt.h"
#include "app/cli/output.h"
#include "core/base/error.h"
#include "core/base/quantity_text.h"
#include "core/cost/model/measured_cost_model.h"

namespace strato::cli {
namespace {

struct CompareOptions {
  ModelOptions model;
  CostOptions costs;
  std::string graphs, clusters;
  std::vector<std::string> planners;
  PlannerChoice planner;
};

// "a,b,c", or a file with a comma in its name.
std::vector<std::string> names_in(const std::string& given) {
  if (std::filesystem::exists(given)) return {given};
  std::vector<std::string> names;
  for (std::size_t begin = 0; begin <= given.size();) {
    const std::size_t end = std::min(given.find(',', begin), given.size());
    names.push_back(given.substr(begin, end - begin));
    begin = end + 1;
  }
  return names;
}

std::vector<std::string> chosen_planners(const CompareOptions& options) {
  if (options.planners != std::vector<std::string>{"all"}) {
    for (const std::string& name : options.planners) plugins().planner(name);
    return options.planners;
  }
  std::vector<std::string> names;
  for (const PluginInfo& plugin : plugins().list(PluginKind::Planner))
    if (plugin.effort != Effort::Given) names.push_back(plugin.name);
  return names;
}

std::vector<TournamentProblem> problems_of(const CompareOptions& options) {
  std::vector<std::shared_ptr<const Cluster>> clusters;
  for (const std::string& name : names_in(options.clusters)) clusters.push_back(load_cluster(name));
  const CostSources costs = options.costs.sources();
  std::vector<TournamentProblem> problems;
  for (const std::string& name : names_in(options.graphs)) {
    ModelOptions asked = options.model;
    asked.graph = name;
    LoadedModel model = load_model(asked);
    model.options.costs = costs;
    for (const auto& cluster : clusters)
      problems.push_back(
          {fmt::format("{} on {}", model.name, cluster->name()), problem_of(model, cluster)});
  }
  return problems;
}

// One line on a terminal: how far it is, and what was done last.
class CompareProgress final : public TournamentObserver {
 public:
  explicit CompareProgress(const TournamentSetup& setup) : setup_(setup) {}

  void on_start(std::size_t problem, std::size_t planner) override {
    if (done_ == 0) line_.show(fmt::format("{}...", named(problem, planner)));
  }
  void on_cell(const TournamentCell& cell, const TournamentProgress& progress) override {
    done_ = progress.done;
    line_.show(fmt::format(
        "{} of {}, {} s; {}: {}", progress.done, progress.cells,
        significant_text(progress.elapsed_seconds), named(cell.problem, cell.planner),
        cell.has_result() ? time_text(cell.result.score.step_time) : "does not serve it"));
  }

 private:
  std::string named(std::size_t problem, std::size_t planner) const {
    return setup_.planners[planner] +
           (setup_.problems.size() > 1 ? ", " + setup_.problems[problem].name : "");
  }
  const TournamentSetup& setup_;
  ProgressLine line_;
  std::size_t done_ = 0;
};

// A planner that refuses a problem is a row with words; when nobody took any problem, that is what
// is wrong.
void refuse_when_all_did(const Tournament& tournament) {
  const TournamentCell* refusal = nullptr;
  for (const auto& row : tournament.cells)
    for (const auto& cell : row) {
      if (cell && cell->has_result()) return;
      if (cell && refusal == nullptr) refusal = &*cell;
    }
  if (refusal != nullptr) throw InputError("", "", refusal->error, "");
}

bool all_fit(const Tournament& tournament) {
  for (std::size_t p = 0; p < tournament.cells.size(); ++p) {
    const TournamentCell* best = tournament.best(p);
    if (best == nullptr || !best->result.score.feasible) return false;
  }
  return true;
}

int compare(const CompareOptions& options, const Command& command) {
  Interrupt interrupt;
  TournamentSetup setup;
  setup.options = options.planner.options();
  setup.planners = chosen_planners(options);
  setup.problems = problems_of(options);
  interrupt.arm();
  Tournament tournament;
  {
    CompareProgress progress(setup);
    tournament = run_tournament(
        setup, [](std::string_view name) { return plugins().planner(name); }, progress,
        interrupt.token());
  }
  refuse_when_all_did(tournament);
  print(command.json ? json_text(compare_json(setup, tournament, command.wall_seconds())) + "\n"
                     : compare_text(setup, tournament));
  return all_fit(tournament) ? Done : Infeasible;
}

}  // namespace

void add_compare(CLI::App& app, Command& command) {
  CLI::App* sub =
      add_command(app, command, "compare", "Several planners on one problem, or on several");
  const auto options = std::make_shared<CompareOptions>();
  sub->add_option("--graph", options->graphs, "Model files, or names of samples: a,b,c")
      ->required();
  options->model.declare_without_graph(*sub);
  sub->add_option("--cluster", options->clusters, "Cluster files, or names of samples: a,b,c")
      ->required();
  sub->add_option("--planners", options->planners, "a,b,c or all")->required()->delimiter(',');
  options->planner.declare(*sub, false);
  options->costs.declare(*sub);
  sub->callback([options, &command] {
    command.action = [=, &command] { return compare(*options, command); };
  });
}

}  // namespace strato::cli
