#include <CLI/CLI.hpp>

#include "app/cli/command.h"
#include "app/cli/constraint_options.h"
#include "app/cli/context.h"
#include "app/cli/explain.h"
#include "app/cli/output.h"
#include "app/cli/report.h"
#include "app/cli/simulation_options.h"
#include "core/io/file.h"
#include "core/program/rank/upward_ranks.h"
#include "core/search/constraints/bound_constraints.h"
#include "core/search/evaluate/outcome.h"
#include "core/sim/explain/dump.h"

namespace strato::cli {
namespace {

struct SimulateCommand {
  PlanSource source;
  std::string trace, tasks;
  SimulationOptions simulation;
  ConstraintOptions constraints;
  bool explain = false;
};

// The plan's strategy, in the order that was asked for.
Strategy ordered(const LoadedPlan& plan, const std::string& order) {
  Strategy strategy = plan.strategy;
  if (order == "rank")
    strategy.priorities =
        upward_rank_priorities(*simulate_strategy(plan.problem, strategy, false).program);
  return strategy;
}

int simulate(const SimulateCommand& options, const Command& command) {
  std::vector<std::filesystem::path> others = options.source.files();
  check_writable(options.trace, others);
  others.emplace_back(options.trace);
  check_writable(options.tasks, others);
  const auto constraints = options.constraints.read();
  const LoadedPlan plan = load_plan(options.source);
  for (const std::string& line : plan.unmatched) remark(line);
  const Strategy strategy =
      naming_file(options.source.plan, [&] { return ordered(plan, options.simulation.order); });
  if (const auto bound = bind_constraints(constraints.get(), plan.problem)) {
    remark_on_names(*constraints, *plan.problem.cluster);
    naming_file(options.source.plan, [&] { bound->check(strategy); });
  }
  Verdict verdict = naming_file(options.source.plan, [&] {
    return make_verdict(plan.problem, strategy, options.simulation.options());
  });
  verdict.planner = plan.planner;
  verdict.seed = plan.seed;
  verdict.evaluations = 1;
  if (!options.trace.empty()) {
    const auto exporter = plugins().exporter("chrome-trace");
    write_file(options.trace, exporter->write({plan.problem, strategy, verdict.outcome}));
  }
  if (!options.tasks.empty()) write_file(options.tasks, dump_tasks(*verdict.outcome.timeline));
  if (command.json) {
    Json json = verdict_json(verdict, command.wall_seconds());
    json["unmatched"] = plan.unmatched;
    json["order"] = options.simulation.order;
    json["links"] = options.simulation.links;
    if (options.explain) json["explain"] = explanation_json(explain(verdict));
    print(json_text(json) + "\n");
  } else {
    print(verdict_text(verdict, command.wall_seconds()));
    if (options.explain) print(explanation_text(explain(verdict)));
  }
  return verdict.feasible() ? Done : Infeasible;
}

}  // namespace

void add_simulate(CLI::App& app, Command& command) {
  CLI::App* sub = add_command(app, command, "simulate", "Run a plan through the simulator");
  const auto options = std::make_shared<SimulateCommand>();
  options->source.declare(*sub);
  sub->add_option("--trace", options->trace,
                  "Write the timeline as a Chrome trace (ui.perfetto.dev)");
  sub->add_option("--dump-tasks", options->tasks,
                  "Write every task with its times, one JSON object a line");
  sub->add_flag("--explain", options->explain,
                "Say why the step takes as long as it does, and what would help");
  options->simulation.declare(*sub,
                              "fifo; priority: the plan's own; rank: longest way to the end first",
                              {"fifo", "priority", "rank"});
  options->constraints.declare(*sub, "a plan that does not keep to them is refused");
  sub->callback([options, &command] {
    command.action = [=, &command] { return simulate(*options, command); };
  });
}

}  // namespace strato::cli
