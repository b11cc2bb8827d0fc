#include "views/models/problem_source.h"

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/graph/graph_file.h"
#include "core/search/baselines.h"

namespace strato {
namespace {

std::string options_text(const ModelSource& model) {
  Json json;
  json["batch"] = model.graph->batch();
  json["training"] = model.options.training;
  json["optimizer"] = std::string(name_of(model.options.optimizer));
  json["groups"] = model.options.grouping.max_groups;
  return json.dump();
}

ProblemOptions parse_options(const StoredModel& row) {
  ProblemOptions options;
  if (row.options.empty()) return options;
  const JsonView view = JsonView::parse(row.options, "model '" + row.name + "' of the workspace");
  if (const auto training = view.find("training")) options.training = training->boolean();
  if (const auto optimizer = view.find("optimizer")) {
    options.optimizer = optimizer_from(optimizer->string());
  }
  if (const auto groups = view.find("groups")) {
    options.grouping.max_groups = static_cast<int>(groups->integer(1, 100000));
  }
  return options;
}

}  // namespace

ModelSource import_model(const PluginRegistry& plugins, const std::filesystem::path& file,
                         const ImportOptions& import, const ProblemOptions& options) {
  ModelSource model;
  model.path = file;
  model.name = file.stem().string();
  model.graph = std::make_shared<const Graph>(plugins.importer_for(file)->import(file, import));
  model.import = import;
  model.options = options;
  return model;
}

ModelSource model_from(const StoredModel& row) {
  ModelSource model;
  model.path = row.path;
  model.name = row.name;
  model.graph = std::make_shared<const Graph>(parse_graph(row.content, "model of the workspace"));
  model.import.batch = model.graph->batch();
  model.options = parse_options(row);
  return model;
}

StoredModel row_of(const ModelSource& model, const Problem& problem) {
  StoredModel row;
  row.name = model.name;
  row.path = model.path.string();
  row.options = options_text(model);
  row.digest = problem.graph->digest();
  row.content = serialise(*model.graph);
  return row;
}

ClusterSource cluster_from(const StoredCluster& row) {
  ClusterSource source;
  source.cluster =
      std::make_shared<const Cluster>(parse_cluster(row.json, row.name, GpuCatalogue()));
  return source;
}

StoredCluster row_of(const ClusterSource& cluster) {
  StoredCluster row;
  row.name = cluster.cluster->name();
  row.json = cluster.cluster->json();
  row.digest = cluster.cluster->digest();
  return row;
}

ClusterSource bundled_cluster(std::string_view name) {
  ClusterSource source;
  source.path = home_directory() / "sample_graphs" / "clusters" / (std::string(name) + ".json");
  source.cluster =
      std::make_shared<const Cluster>(read_cluster(source.path, GpuCatalogue::bundled()));
  return source;
}

PreparedProblem with_baseline(Problem made) {
  PreparedProblem prepared;
  prepared.problem = std::make_shared<const Problem>(std::move(made));
  const Problem& problem = *prepared.problem;
  prepared.baseline =
      std::make_shared<const Outcome>(simulate_strategy(problem, data_parallel(problem)));
  prepared.lower_bound = lower_bound(problem);
  return prepared;
}

PreparedProblem prepare(const ModelSource& model, const ClusterSource& cluster) {
  return with_baseline(make_problem(*model.graph, cluster.cluster, model.options));
}

}  // namespace strato
