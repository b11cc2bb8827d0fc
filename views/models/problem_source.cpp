#include "views/models/problem_source.h"

#include <QCoreApplication>
#include <cmath>

#include "core/base/error.h"
#include "core/cluster/read/cluster_reader.h"
#include "core/cluster/spec/gpu_catalogue.h"
#include "core/cost/model/measured_cost_model.h"
#include "core/cost/value/profile.h"
#include "core/plugin/use/import_model.h"
#include "core/search/evaluate/baselines.h"
#include "core/search/evaluate/lower_bound.h"
#include "core/search/evaluate/outcome.h"
#include "views/models/simulation.h"

namespace strato {
namespace {

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

ClusterSource cluster_from(const StoredCluster& row) {
  ClusterSource source;
  source.cluster =
      std::make_shared<const Cluster>(parse_cluster(row.json, row.name, GpuCatalogue()));
  return source;
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
