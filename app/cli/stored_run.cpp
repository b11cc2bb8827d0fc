#include "app/cli/stored_run.h"

#include <fmt/format.h>
#include <unistd.h>

#include <optional>
#include <utility>

#include "app/cli/output.h"
#include "core/base/error.h"
#include "core/cluster/read/cluster_reader.h"
#include "core/cluster/spec/gpu_catalogue.h"
#include "core/search/run/run_record.h"
#include "core/search/run/tree_problem.h"
#include "core/search/tree/search_tree.h"

namespace strato::cli {
namespace fs = std::filesystem;
namespace {

RunOptions run_options(const Workspace& workspace, const StoredRun& run) {
  return parse_run_options(run.options, place_of_options(workspace, run));
}

// A row that another one refers to.
template <class Row>
Row existing(std::optional<Row> row, const Workspace& workspace, const std::string& what) {
  if (row) return *std::move(row);
  throw InputError(workspace.file().string(), what, "is not there",
                   "restore a copy of the workspace, or plan again");
}

// Reads the costs that the run was made with again.
void restore_costs(const Workspace& workspace, const StoredRun& run, LoadedModel& model) {
  const auto costs = run_options(workspace, run).costs;
  if (!costs) return;
  std::vector<std::string> warnings;
  static_cast<CostFiles&>(model.cost_files) = costs->files;
  model.options.costs = strato::restore_costs(*costs, workspace.file().string(),
                                              fmt::format("run {}", run.id), &warnings);
  for (const std::string& warning : warnings) remark(warning);
}

// Those of the run's best strategy, or those that the standard costs make: a search goes on in the
// groups that were open when measured costs came. As they are where the tree is about neither.
void take_groups_of(const SearchTree& tree, const Workspace& workspace, const StoredRun& run,
                    StoredProblem& stored) {
  NamedStrategy best;
  if (const auto row = run.best ? workspace.strategies().find(*run.best) : std::nullopt)
    best = parse_strategy(row->json, workspace.file().string());
  if (auto found = problem_of_tree(tree, stored.problem, best)) {
    stored.problem = *std::move(found);
  } else if (!describe(stored.model.options.costs).empty()) {
    LoadedModel standard = stored.model;
    standard.options.costs = {};
    Problem other = with_grouping(stored.problem,
                                  Grouping(*problem_of(standard, stored.problem.cluster).grouping));
    if (other.digest() == tree.problem) stored.problem = std::move(other);
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
  if (auto run = workspace.runs().find(id)) return *std::move(run);
  throw InputError(workspace.file().string(), "", fmt::format("has no run {}", id),
                   "see: runs list");
}

std::string place_of_options(const Workspace& workspace, const StoredRun& run) {
  return fmt::format("{}: options of run {}", workspace.file().string(), run.id);
}

StoredProblem stored_problem(const Workspace& workspace, const StoredRun& run,
                             const SearchTree* tree) {
  const std::string file = workspace.file().string();
  const auto of_run = [&run](const char* what) {
    return fmt::format("{} of run {}", what, run.id);
  };
  StoredProblem stored;
  static_cast<ModelSource&>(stored.model) = model_from(
      existing(workspace.problems().model(run.model), workspace, of_run("the model")), file);
  restore_costs(workspace, run, stored.model);
  const auto cluster =
      existing(workspace.problems().cluster(run.cluster), workspace, of_run("the cluster"));
  stored.problem = problem_of(
      stored.model, std::make_shared<const Cluster>(parse_cluster(
                        cluster.json, file + ": cluster " + cluster.name, GpuCatalogue())));
  if (tree != nullptr && tree->problem != stored.problem.digest())
    take_groups_of(*tree, workspace, run, stored);
  return stored;
}

std::string options_text(const PlannerOptions& options, const LoadedModel& model) {
  return run_options_text({options, run_costs(model.cost_files, model.options.costs)});
}

PlannerOptions options_from(const Workspace& workspace, const StoredRun& run) {
  return run_options(workspace, run).planner;
}

std::shared_ptr<const SearchTree> find_tree(const Workspace& workspace, const StoredRun& run) {
  const auto bytes = workspace.runs().tree(run.id);
  try {
    return bytes ? std::make_shared<const SearchTree>(parse_search_tree(*bytes)) : nullptr;
  } catch (const InputError& error) {
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
