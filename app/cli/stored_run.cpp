#include "app/cli/stored_run.h"

#include <fmt/format.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/base/json.h"

namespace strato::cli {
namespace fs = std::filesystem;
namespace {

JsonView options_of(const StoredRun& run) {
  return JsonView::parse(run.options, fmt::format("options of run {}", run.id));
}

// The workspace outlives the folder that the command was given in.
std::string absolute(const std::string& file) {
  return fs::absolute(file).lexically_normal().string();
}

Json costs_json(const LoadedModel& model) {
  Json json = {{"are", describe(model.options.costs)}};
  for (const std::string& file : model.cost_files.profiles)
    json["profiles"].push_back(absolute(file));
  const std::string& calibration = model.cost_files.calibration;
  if (!calibration.empty()) {
    std::error_code error;
    json["calibration"] = fs::exists(calibration, error) ? absolute(calibration) : calibration;
  }
  return json;
}

// Reads the costs that the run was made with again.
void restore_costs(const StoredRun& run, const std::string& workspace, LoadedModel& model) {
  const auto costs = options_of(run).find("costs");
  if (!costs) return;
  if (const auto profiles = costs->find("profiles")) {
    for (const JsonView& file : profiles->items())
      model.cost_files.profiles.push_back(file.string());
  }
  if (const auto calibration = costs->find("calibration"))
    model.cost_files.calibration = calibration->string();
  const std::string then = costs->at("are").string();
  const std::string place = fmt::format("run {}", run.id);
  const std::string remedy = "put the file back as it was, or plan again";
  try {
    model.options.costs = model.cost_files.sources();
  } catch (const InputError& error) {
    throw InputError(workspace, place,
                     fmt::format("was made with the costs of {}, which cannot be read: {}: {}",
                                 then, error.file(), error.problem()),
                     remedy);
  }
  if (const std::string now = describe(model.options.costs); now != then) {
    throw InputError(workspace, place,
                     fmt::format("was made with the costs of {}, and its files hold {} now", then,
                                 now.empty() ? "others" : now),
                     remedy);
  }
}

}  // namespace

Workspace open_existing(const std::string& file, bool must_write) {
  std::error_code error;
  if (!fs::exists(file, error)) {
    throw InputError(file, "", "is not there", "check the name; plan --workspace makes one");
  }
  const fs::path folder = fs::absolute(file).parent_path();
  const bool may_write = ::access(file.c_str(), W_OK) == 0 && ::access(folder.c_str(), W_OK) == 0;
  return Workspace(file, !must_write && !may_write);
}

StoredRun find_run(const Workspace& workspace, RunRow id) {
  if (auto run = workspace.run(id)) return *std::move(run);
  throw InputError(workspace.file().string(), "", fmt::format("has no run {}", id),
                   "see: runs list");
}

StoredProblem stored_problem(const Workspace& workspace, const StoredRun& run) {
  StoredProblem stored;
  stored.model = model_from(workspace.model(run.model).value());
  restore_costs(run, workspace.file().string(), stored.model);
  const StoredCluster cluster = workspace.cluster(run.cluster).value();
  stored.problem = problem_of(
      stored.model,
      std::make_shared<const Cluster>(parse_cluster(cluster.json, cluster.name, GpuCatalogue())));
  return stored;
}

std::string options_text(const PlannerOptions& options, const LoadedModel& model) {
  Json json = {{"iterations", options.iterations},
               {"budget", options.budget_seconds},
               {"seed", options.seed},
               {"set", options.set}};
  if (!describe(model.options.costs).empty()) json["costs"] = costs_json(model);
  return json.dump();
}

PlannerOptions options_from(const StoredRun& run) {
  const JsonView view = options_of(run);
  PlannerOptions options;
  if (const auto count = view.find("iterations")) options.iterations = count->integer(1);
  if (const auto budget = view.find("budget")) options.budget_seconds = budget->number(0);
  options.seed = view.at("seed").json().get<std::uint64_t>();
  if (const auto set = view.find("set"); set && set->is_object()) {
    for (const auto& [key, value] : set->members()) options.set[key] = value.string();
  }
  return options;
}

std::shared_ptr<const SearchTree> find_tree(const Workspace& workspace, const StoredRun& run) {
  try {
    const auto bytes = workspace.tree(run.id);
    return bytes ? std::make_shared<const SearchTree>(parse_search_tree(*bytes)) : nullptr;
  } catch (const InputError& error) {
    if (error.place().empty()) throw;  // the file's trouble, not the tree's
    throw InputError(workspace.file().string(), fmt::format("run {}: search tree", run.id),
                     error.problem(),
                     fmt::format("begin a new one (runs resume {} --afresh), or restore a copy of "
                                 "the workspace",
                                 run.id));
  }
}

std::shared_ptr<const SearchTree> stored_tree(const Workspace& workspace, const StoredRun& run) {
  if (auto tree = find_tree(workspace, run)) return tree;
  throw InputError(workspace.file().string(), fmt::format("run {}", run.id),
                   fmt::format("has no search tree: {} keeps none, or had none yet", run.planner),
                   "plan again with a planner that searches a tree: mcts or tag");
}

}  // namespace strato::cli
