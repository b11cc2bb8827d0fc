#include <CLI/CLI.hpp>

#include "app/cli/command.h"
#include "app/cli/context.h"
#include "app/cli/output.h"
#include "app/cli/report.h"
#include "core/base/file.h"

namespace strato::cli {
namespace {

struct SimulateOptions {
  PlanSource source;
  std::string trace, tasks;
};

int simulate(const SimulateOptions& options, const Command& command) {
  std::vector<std::filesystem::path> others = options.source.files();
  check_writable(options.trace, others);
  others.emplace_back(options.trace);
  check_writable(options.tasks, others);
  const LoadedPlan plan = load_plan(options.source);
  for (const std::string& line : plan.unmatched) remark(line);
  Verdict verdict = make_verdict(plan.problem, plan.strategy);
  verdict.planner = plan.planner;
  verdict.seed = plan.seed;
  verdict.evaluations = 1;
  if (!options.trace.empty()) {
    const auto exporter = plugins().exporter("chrome-trace");
    write_file(options.trace, exporter->write({plan.problem, plan.strategy, verdict.outcome}));
  }
  if (!options.tasks.empty()) write_file(options.tasks, dump_tasks(*verdict.outcome.timeline));
  if (command.json) {
    Json json = verdict_json(verdict, command.wall_seconds());
    json["unmatched"] = plan.unmatched;
    print(json.dump() + "\n");
  } else {
    print(verdict_text(verdict, command.wall_seconds()));
  }
  return verdict.feasible() ? Done : Infeasible;
}

}  // namespace

void add_simulate(CLI::App& app, Command& command) {
  CLI::App* sub = add_command(app, command, "simulate", "Run a plan through the simulator");
  const auto options = std::make_shared<SimulateOptions>();
  options->source.declare(*sub);
  sub->add_option("--trace", options->trace,
                  "Write the timeline as a Chrome trace (ui.perfetto.dev)");
  sub->add_option("--dump-tasks", options->tasks,
                  "Write every task with its times, one JSON object a line");
  sub->callback([options, &command] {
    command.action = [=, &command] { return simulate(*options, command); };
  });
}

}  // namespace strato::cli
