#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "app/cli/command.h"
#include "app/cli/output.h"
#include "app/cli/recorder.h"
#include "app/cli/search.h"
#include "core/base/error.h"
#include "core/base/quantity_text.h"
#include "core/search/baselines.h"

namespace strato::cli {
namespace {

struct CompareOptions {
  ModelOptions model;
  CostOptions costs;
  std::string cluster;
  std::vector<std::string> planners;
  PlannerChoice planner;
};

struct Row {
  std::string planner, note;
  std::optional<PlanResult> result;  // nothing: it does not serve this problem
  double wall_seconds = 0;
};

// "all": every planner there is, and one that does not serve the problem is only noted.
std::vector<std::string> chosen_planners(const CompareOptions& options, bool& all) {
  all = options.planners == std::vector<std::string>{"all"};
  if (!all) {
    for (const std::string& name : options.planners) plugins().planner(name);
    return options.planners;
  }
  std::vector<std::string> names;
  for (const PluginInfo& plugin : plugins().list(PluginKind::Planner)) names.push_back(plugin.name);
  return names;
}

Row run_one(const std::string& name, bool may_refuse, const Problem& problem,
            const PlannerOptions& options, Interrupt& interrupt) {
  const auto start = std::chrono::steady_clock::now();
  Row row{name, "", {}, 0};
  try {
    const auto planner = plugins().planner(name);
    Recorder observer(problem, name, options);
    row.result = run_planner(*planner, problem, options, observer, interrupt.token());
    row.note = row.result->note;
  } catch (const InputError& error) {
    if (!may_refuse) throw;
    row.note = error.what();
  }
  row.wall_seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return row;
}

const Row* best_of(const std::vector<Row>& rows) {
  const Row* best = nullptr;
  for (const Row& row : rows) {
    if (!row.result) continue;
    if (best == nullptr || row.result->score.better_than(best->result->score)) best = &row;
  }
  return best;
}

Json compare_json(const Problem& problem, const std::vector<Row>& rows, const Score& baseline,
                  Nanos bound, double wall_seconds) {
  Json list = Json::array();
  for (const Row& row : rows) {
    Json entry = {{"planner", row.planner}};
    if (row.result) {
      const Score& score = row.result->score;
      entry["step_time_s"] = to_seconds(score.step_time);
      entry["speedup"] = baseline.step_time / score.step_time;
      entry["feasible"] = score.feasible;
      entry["evaluations"] = row.result->evaluations;
    }
    entry["note"] = row.note;
    entry["wall_s"] = row.wall_seconds;
    list.push_back(std::move(entry));
  }
  const Row* best = best_of(rows);
  return {{"model", problem.graph->name()},
          {"cluster", problem.cluster->name()},
          {"batch", problem.graph->batch()},
          {"baseline_step_time_s", to_seconds(baseline.step_time)},
          {"baseline_feasible", baseline.feasible},
          {"lower_bound_s", to_seconds(bound)},
          {"best", best == nullptr ? Json() : Json(best->planner)},
          {"wall_s", wall_seconds},
          {"planners", list}};
}

std::string compare_text(const Problem& problem, const std::vector<Row>& rows,
                         const Score& baseline, Nanos bound) {
  Table table({"planner", "step time", "speed-up", "fits", "evaluations", "took", "note"});
  for (const Row& row : rows) {
    const std::string took = time_text(nanos_from_seconds(row.wall_seconds));
    if (!row.result) {
      table.add({row.planner, "-", "-", "-", "-", took, row.note});
      continue;
    }
    const Score& score = row.result->score;
    table.add({row.planner, time_text(score.step_time),
               factor_text(baseline.step_time / score.step_time), score.feasible ? "yes" : "no",
               std::to_string(row.result->evaluations), took, row.note});
  }
  std::string text =
      fmt::format("{} on {}, batch {}, {} op groups; data parallel {}{}, lower bound {}\n\n",
                  problem.graph->name(), problem.cluster->name(), problem.graph->batch(),
                  problem.grouping->size(), time_text(baseline.step_time),
                  baseline.feasible ? "" : " (does not fit)", time_text(bound));
  return text + table.text();
}

int compare(const CompareOptions& options, const Command& command) {
  Interrupt interrupt;
  const PlannerOptions planner_options = options.planner.options();
  bool all = false;
  const std::vector<std::string> names = chosen_planners(options, all);
  LoadedModel model = load_model(options.model);
  model.options.costs = options.costs.sources();
  const Problem problem = problem_of(*model.graph, load_cluster(options.cluster), model.options);
  const Score baseline = simulate_strategy(problem, data_parallel(problem), false).score;
  const Nanos bound = lower_bound(problem);
  interrupt.arm();
  std::vector<Row> rows;
  for (const std::string& name : names) {
    rows.push_back(run_one(name, all, problem, planner_options, interrupt));
    if (interrupt.requested()) break;
  }
  if (command.json) {
    print(compare_json(problem, rows, baseline, bound, command.wall_seconds()).dump() + "\n");
  } else {
    print(compare_text(problem, rows, baseline, bound));
  }
  const Row* best = best_of(rows);
  return best != nullptr && best->result->score.feasible ? Done : Infeasible;
}

}  // namespace

void add_compare(CLI::App& app, Command& command) {
  CLI::App* sub = add_command(app, command, "compare", "Several planners on one problem");
  const auto options = std::make_shared<CompareOptions>();
  options->model.declare(*sub);
  sub->add_option("--cluster", options->cluster, "Cluster file, or the name of a sample")
      ->required();
  sub->add_option("--planners", options->planners, "a,b,c or all")->required()->delimiter(',');
  options->planner.declare(*sub, false);
  options->costs.declare(*sub);
  sub->callback([options, &command] {
    command.action = [=, &command] { return compare(*options, command); };
  });
}

}  // namespace strato::cli
