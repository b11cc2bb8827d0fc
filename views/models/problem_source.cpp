#include "views/models/problem_source.h"

#include <QCoreApplication>
#include <cmath>

#include "core/base/error.h"
#include "core/cluster/read/cluster_reader.h"
#include "core/cluster/spec/gpu_catalogue.h"
#include "core/cost/model/measured_cost_model.h"
#include "core/cost/value/profile.h"
#include "core/graph/build/graph_file.h"
#include "core/io/file.h"
#include "core/io/json.h"
#include "core/plugin/use/import_model.h"
#include "core/plugin/use/import_note.h"
#include "core/search/evaluate/baselines.h"
#include "core/search/evaluate/lower_bound.h"
#include "core/search/evaluate/outcome.h"
#include "views/models/simulation.h"

namespace strato {
namespace {

std::string options_text(const ModelSource& model) {
  Json json;
  json["batch"] = model.graph->batch();
  json["training"] = model.options.training;
  json["optimizer"] = std::string(name_of(model.options.optimizer));
  json["groups"] = model.options.grouping.max_groups;
  if (model.grouping != GroupingMethod::Metis)
    json["grouping"] = std::string(name_of(model.grouping));
  note_import(model.import, json);
  return json_text(json);
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

GroupingMethod parse_grouping(const StoredModel& row) {
  if (row.options.empty()) return GroupingMethod::Metis;
  const JsonView view = JsonView::parse(row.options, "model '" + row.name + "' of the workspace");
  const auto grouping = view.find("grouping");
  return grouping ? grouping_method_from(grouping->string()) : GroupingMethod::Metis;
}

PreparedProblem with_baseline(Problem made) {
  PreparedProblem prepared;
  prepared.problem = std::make_shared<const Problem>(std::move(made));
  const Problem& problem = *prepared.problem;
  prepared.baseline =
      std::make_shared<const Outcome>(simulate_as(problem, data_parallel(problem), {}));
  prepared.lower_bound = lower_bound(problem);
  return prepared;
}

// "V100-SXM2-32GB: 84 of 91 ops measured, 97 % of their time"
std::string coverage_text(const Problem& problem, const CostSources& costs) {
  if (!costs.profile) return {};
  std::string text;
  for (const ProfileReport::Gpu& gpu :
       report(*costs.profile, *problem.graph, *problem.cluster).gpus) {
    if (!text.empty()) text += "\n";
    text +=
        QCoreApplication::translate("ProblemSource",
                                    "%1: %2 of %3 ops measured, %4 % of their time")
            .arg(QString::fromStdString(gpu.name), QString::number(gpu.measured),
                 QString::number(gpu.ops), QString::number(std::llround(100 * gpu.time_covered)))
            .toStdString();
  }
  return text;
}

}  // namespace

ModelSource import_model(const PluginRegistry& plugins, const std::filesystem::path& file,
                         const ImportOptions& import, const ProblemOptions& options) {
  ModelSource model;
  model.path = file;
  model.graph = std::make_shared<const Graph>(import_model(plugins, file, import, &model.remarks));
  model.name = model.graph->name();
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
  if (!row.options.empty()) {
    const JsonView noted =
        JsonView::parse(row.options, "model '" + row.name + "' of the workspace");
    model.import = noted_import(noted, model.graph->batch());
  }
  model.options = parse_options(row);
  model.grouping = parse_grouping(row);
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

PreparedProblem regrouped(const PreparedProblem& prepared, Grouping grouping) {
  PreparedProblem result = with_baseline(with_grouping(*prepared.problem, std::move(grouping)));
  result.warnings = prepared.warnings;
  result.coverage = prepared.coverage;
  result.regrouped = true;
  return result;
}

PreparedProblem prepare(const ModelSource& model, const ClusterSource& cluster,
                        const CostSources& costs) {
  ProblemOptions options = model.options;
  options.costs = costs;
  std::vector<std::string> warnings = model.remarks;
  PreparedProblem prepared = with_baseline(
      make_problem(*model.graph, cluster.cluster, options, model.grouping, &warnings));
  prepared.warnings = std::move(warnings);
  prepared.coverage = coverage_text(*prepared.problem, costs);
  return prepared;
}

PreparedProblem recosted(const PreparedProblem& before, const CostSources& costs) {
  Problem problem = *before.problem;
  std::vector<std::string> warnings;
  problem.cost = make_cost_model(problem.graph, problem.cluster, costs, &warnings);
  PreparedProblem prepared = with_baseline(std::move(problem));
  prepared.warnings = std::move(warnings);
  prepared.coverage = coverage_text(*prepared.problem, costs);
  prepared.regrouped = before.regrouped;
  return prepared;
}

}  // namespace strato
