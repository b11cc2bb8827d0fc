#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "app/cli/command.h"
#include "app/cli/continue_run.h"
#include "app/cli/output.h"
#include "app/cli/stored_run.h"
#include "core/base/error.h"
#include "core/base/quantity_text.h"
#include "core/io/json.h"
#include "core/store/model_words.h"
#include "core/store/workspace.h"
#include "core/strategy/file/named_strategy.h"

namespace strato::cli {
namespace {

struct RunsOptions {
  std::string workspace;
  RunRow id = 0;
  ContinueOptions resume;
};

Json run_json(const Workspace& workspace, const StoredRun& run, const std::string& model,
              const std::string& cluster) {
  return {{"run", run.id},
          {"model", model},
          {"cluster", cluster},
          {"planner", run.planner},
          {"options", JsonView::parse(run.options, place_of_options(workspace, run)).json()},
          {"state", std::string(name_of(run.state))},
          {"step_time_s", to_seconds(Nanos(run.best_ns))},
          {"baseline_step_time_s", to_seconds(Nanos(run.baseline_ns))},
          {"evaluations", run.evaluations},
          {"wall_s", run.wall_seconds},
          {"note", run.note},
          {"created", run.created}};
}

template <class Row>
std::string name_in(const std::vector<Row>& rows, std::int64_t id) {
  for (const Row& row : rows) {
    if (row.id == id) return row.name;
  }
  return "";
}

std::string words_in(const std::vector<StoredModel>& models, ModelRow id) {
  for (const StoredModel& model : models)
    if (model.id == id) return words_of(model);
  return "";
}

double speedup(const StoredRun& run) {
  return run.best_ns > 0 ? static_cast<double>(run.baseline_ns) / static_cast<double>(run.best_ns)
                         : 0;
}

int list_runs(const RunsOptions& options, const Command& command) {
  const Workspace workspace = open_existing(options.workspace, false);
  const auto models = workspace.problems().models();
  const auto clusters = workspace.problems().clusters();
  Json list = Json::array();
  Table table({"run", "model", "cluster", "planner", "state", "step time", "speed-up",
               "evaluations", "made"});
  for (const StoredRun& run : workspace.runs().all()) {
    const std::string model = name_in(models, run.model), cluster = name_in(clusters, run.cluster);
    list.push_back(run_json(workspace, run, model, cluster));
    table.add({std::to_string(run.id), words_in(models, run.model), cluster, run.planner,
               std::string(name_of(run.state)), time_text(Nanos(run.best_ns)),
               factor_text(speedup(run)), std::to_string(run.evaluations), run.created});
  }
  if (command.json) {
    print(json_text(Json{{"runs", list}}) + "\n");
  } else {
    print(table.empty() ? "no runs\n" : table.text());
  }
  return Done;
}

std::string place_of_best(const Workspace& workspace) {
  return workspace.file().string() + ": strategy";
}

std::string best_text(const Workspace& workspace, const StoredRun& run) {
  if (!run.best) return "";
  const auto best = workspace.strategies().find(*run.best);
  if (!best) return "";
  std::string text =
      fmt::format("  best           strategy {}, {}{}\n\n", best->id,
                  time_text(Nanos(best->step_time_ns)), best->feasible ? "" : ", does not fit");
  Table table({"group", "ops", "mode", "devices"});
  for (const NamedGroup& group : parse_strategy(best->json, place_of_best(workspace)).groups) {
    std::string devices;
    for (const auto& [name, weight] : group.devices) {
      devices +=
          (devices.empty() ? "" : ", ") + name + (weight == 1 ? "" : fmt::format(" x{}", weight));
    }
    table.add({group.name, std::to_string(group.ops.size()),
               group.mode ? std::string(strato::name_of(*group.mode)) : "undecided", devices});
  }
  return text + table.text();
}

constexpr const char* kGoodTree = "can be continued";

// A damaged tree takes nothing else of the run with it.
std::string tree_words(const Workspace& workspace, const StoredRun& run) {
  try {
    return find_tree(workspace, run) ? kGoodTree : "none";
  } catch (const InputError& error) {
    return fmt::format("{}; begin a new one: runs resume {} --afresh", error.problem(), run.id);
  }
}

int show_run(const RunsOptions& options, const Command& command) {
  const Workspace workspace = open_existing(options.workspace, false);
  const StoredRun run = find_run(workspace, options.id);
  const std::string model = name_in(workspace.problems().models(), run.model);
  const std::string cluster = name_in(workspace.problems().clusters(), run.cluster);
  const auto history = workspace.runs().history(run.id);
  if (command.json) {
    Json json = run_json(workspace, run, model, cluster);
    json["history"] = Json::array();
    for (const HistoryPoint& point : history) {
      json["history"].push_back({{"evaluations", point.evaluations},
                                 {"elapsed_s", point.elapsed_seconds},
                                 {"best_s", to_seconds(Nanos(point.best_ns))}});
    }
    const std::string tree = tree_words(workspace, run);
    json["resumable"] = tree == kGoodTree;
    json["tree"] = tree;
    if (run.best)
      json["strategy"] =
          JsonView::parse(workspace.strategies().find(*run.best).value_or(StoredStrategy{}).json,
                          place_of_best(workspace))
              .json();
    print(json_text(json) + "\n");
    return Done;
  }
  std::string text = fmt::format("run {}: {} on {}, {}, {}\n", run.id, model, cluster, run.planner,
                                 name_of(run.state));
  text += fmt::format("  made           {}\n  options        {}\n", run.created, run.options);
  text += fmt::format("  step time      {}\n  data parallel  {}\n  speed-up       {}\n",
                      time_text(Nanos(run.best_ns)), time_text(Nanos(run.baseline_ns)),
                      factor_text(speedup(run)));
  text += fmt::format("  evaluations    {} in {}\n  history        {} points\n", run.evaluations,
                      time_text(nanos_from_seconds(run.wall_seconds)), history.size());
  text += fmt::format("  tree           {}\n", tree_words(workspace, run));
  if (!run.note.empty()) text += fmt::format("  note           {}\n", run.note);
  print(text + best_text(workspace, run));
  return Done;
}

int resume_run(const RunsOptions& options, const Command& command) {
  return resume_stored_run(options.workspace, options.id, options.resume, command);
}

int delete_run(const RunsOptions& options, const Command& command) {
  Workspace workspace = open_existing(options.workspace, true);
  const RunLock lock(workspace.file(), find_run(workspace, options.id).id);
  workspace.runs().remove(options.id);
  print(command.json ? json_text(Json{{"deleted", options.id}}) + "\n"
                     : fmt::format("run {} deleted\n", options.id));
  return Done;
}

using RunsAction = int (*)(const RunsOptions&, const Command&);

CLI::App* add_action(CLI::App& runs, Command& command, const std::shared_ptr<RunsOptions>& options,
                     const std::string& name, const std::string& help, RunsAction action) {
  CLI::App* sub = add_command(runs, command, name, help);
  sub->fallthrough();
  if (action != list_runs) sub->add_option("run", options->id, "Number of the run")->required();
  sub->callback(
      [=, &command] { command.action = [=, &command] { return action(*options, command); }; });
  return sub;
}

}  // namespace

void add_runs(CLI::App& app, Command& command) {
  CLI::App* runs = add_command(app, command, "runs", "The history in a workspace");
  const auto options = std::make_shared<RunsOptions>();
  runs->add_option("--workspace", options->workspace, "Workspace (.strata)")->required();
  runs->require_subcommand(0, 1);
  add_action(*runs, command, options, "list", "All runs (the default)", list_runs);
  add_action(*runs, command, options, "show", "One run, its history and its best strategy",
             show_run);
  add_action(*runs, command, options, "delete", "Delete a run; its strategies stay", delete_run);
  CLI::App* resume =
      add_action(*runs, command, options, "resume", "Go on with a tree search", resume_run);
  options->resume.declare(*resume);
  resume->add_flag("--afresh", options->resume.afresh,
                   "Leave the stored tree, which may be damaged, and begin a new one");
  // Called after the inner callback, when there is one.
  runs->callback([=, &command] {
    if (!command.action) command.action = [=, &command] { return list_runs(*options, command); };
  });
}

}  // namespace strato::cli
