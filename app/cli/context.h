// Where a problem comes from: the options that several subcommands share, and how they become
// values.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/cli/constraint_options.h"
#include "core/base/error.h"
#include "core/cost/model/measured_cost_model.h"
#include "core/io/json.h"
#include "core/plugin/load/plugin_registry.h"
#include "core/plugin/use/model_source.h"
#include "core/search/api/problem.h"
#include "core/store/workspace.h"
#include "core/strategy/file/plan_file.h"

namespace CLI {
class App;
}

namespace strato::cli {

struct CostOptions : CostFiles {
  void declare(CLI::App& command);
  CostSources sources() const;                       // throws InputError
  std::vector<std::filesystem::path> files() const;  // what is read
};

struct ModelOptions {
  std::string graph;  // file, or the name of a bundled sample
  std::optional<std::int64_t> batch;
  std::vector<std::string> dimensions;  // name=N
  std::size_t batch_axis = 0;
  std::string optimizer = "adam";
  int groups = 60;
  std::string grouping = "metis";
  bool inference = false;
  std::string precision;                       // empty: as the model has it
  std::vector<std::string> trainable, frozen;  // names or patterns of parameters

  void declare(CLI::App& command);  // with --graph, which is required
  void declare_without_graph(CLI::App& command);
  void declare_binding(CLI::App& command);  // what makes one training graph of a model
  ImportOptions import_options() const;
  ProblemOptions problem_options() const;
};

struct PlannerChoice {
  std::string planner = "mcts";
  std::int64_t iterations = 800;
  std::optional<std::string> budget;
  std::uint64_t seed = 1;
  int threads = 0;
  std::vector<std::string> set;  // key=value
  std::int32_t micro_batches = 1;
  std::string schedule = "1f1b";
  std::int32_t tensor = 1;
  std::string recompute = "none", offload = "none";
  ConstraintOptions constraints;

  void declare(CLI::App& command, bool with_planner);
  PlannerOptions options() const;  // throws InputError
};

// `graph` with its costs and groups. Tells on standard error what of the cost sources is not used.
Problem problem_of(const Graph& graph, std::shared_ptr<const Cluster> cluster,
                   const ProblemOptions& options);

struct LoadedModel : ModelSource {
  CostOptions cost_files;  // where options.costs came from
};

// The same of a model in the groups that it was asked for.
Problem problem_of(const LoadedModel& model, std::shared_ptr<const Cluster> cluster);

const PluginRegistry& plugins();  // manifests are read on first use

LoadedModel load_model(const ModelOptions& options);
LoadedModel load_model(const ModelOptions& options, const CostOptions& costs);
std::shared_ptr<const Cluster> load_cluster(const std::string& given);

// A plan with the problem that it is for, from its own model and cluster or from others.
struct LoadedPlan {
  Problem problem;  // the grouping is the plan's
  Strategy strategy;
  std::vector<std::string> unmatched;  // what did not fit, in words
  std::string planner;
  std::uint64_t seed = 0;
  LoadedModel model;  // for the workspace
};
struct PlanSource {
  std::string plan, graph, cluster;  // graph and cluster: empty for the plan's own
  CostOptions costs;
  void declare(CLI::App& command);
  std::vector<std::filesystem::path> files() const;  // what is read
};
// Returns what `body` returns; names this file in what it refuses without naming any.
template <class Body>
auto naming_file(const std::string& file, Body body) {
  try {
    return body();
  } catch (const InputError& error) {
    if (!error.file().empty()) throw;
    throw InputError(file, error.place(), error.problem(), error.remedy());
  }
}

LoadedPlan load_plan(const PlanSource& source);

// "10s", "500ms", "2m", "1h", or a number of seconds.
double parse_duration(const std::string& text, const std::string& option);

// Fails now, rather than after a long search, when `file` cannot be written or is one of `inputs`,
// which would be lost. Leaves nothing behind.
void check_writable(const std::filesystem::path& file,
                    const std::vector<std::filesystem::path>& inputs);

}  // namespace strato::cli
