#include "core/plugin/use/export.h"

#include <CLI/CLI.hpp>

#include "app/cli/command.h"
#include "app/cli/context.h"
#include "app/cli/output.h"
#include "core/io/json.h"
#include "core/search/api/evaluator.h"
#include "core/search/evaluate/outcome.h"

namespace strato::cli {
namespace {

struct ExportOptions {
  PlanSource source;
  std::string format, output;
};

int export_plan(const ExportOptions& options, const Command& command) {
  const auto exporter = plugins().exporter(options.format);
  if (exporter->makes_folder()) {
    check_export_folder(options.output);
  } else {
    check_writable(options.output, options.source.files());
  }
  const LoadedPlan plan = load_plan(options.source);
  for (const std::string& line : plan.unmatched) remark(line);
  const Outcome outcome = exporter->needs_all_tasks()
                              ? simulate_strategy(plan.problem, plan.strategy)
                              : simulate_outline(plan.problem, plan.strategy, false);
  const Exported exported =
      write_export(*exporter, {plan.problem, plan.strategy, outcome}, options.output);
  if (command.json) {
    print(json_text(Json{{"format", options.format},
                         {"path", options.output},
                         {"files", exported.files},
                         {"bytes", exported.bytes},
                         {"unmatched", plan.unmatched}}) +
          "\n");
  } else {
    print(options.output + " written\n");
  }
  return Done;
}

}  // namespace

void add_export(CLI::App& app, Command& command) {
  CLI::App* sub = add_command(app, command, "export", "Write a plan in another format");
  const auto options = std::make_shared<ExportOptions>();
  options->source.declare(*sub);
  sub->add_option("--format", options->format, "See: list exporters")->required();
  sub->add_option("-o,--output", options->output,
                  "File to write; a new folder for formats of several files")
      ->required();
  sub->callback([options, &command] {
    command.action = [=, &command] { return export_plan(*options, command); };
  });
}

}  // namespace strato::cli
