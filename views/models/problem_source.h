// Where a problem comes from (a file or a workspace row) and how it becomes one. Blocking functions
// for worker threads; every failure is an InputError.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "core/cost/model/measured_cost_model.h"
#include "core/plugin/load/plugin_registry.h"
#include "core/plugin/use/model_source.h"
#include "core/search/api/evaluator.h"
#include "core/search/evaluate/outcome.h"
#include "core/store/workspace.h"

namespace strato {

struct ClusterSource {
  std::filesystem::path path;
  std::shared_ptr<const Cluster> cluster;
};

// A problem with what every view shows beside any strategy for it.
struct PreparedProblem {
  std::shared_ptr<const Problem> problem;
  std::shared_ptr<const Outcome> baseline;  // first in, first out on exclusive links
  Nanos lower_bound;
  std::vector<std::string> warnings;  // of the importer, and what of the costs could not be used
  std::string coverage;               // what a profile knows of the model; empty without one
  bool regrouped = false;             // not in the groups that the model's options ask for
};

ModelSource import_model(const PluginRegistry& plugins, const std::filesystem::path& file,
                         const ImportOptions& import, const ProblemOptions& options);
ClusterSource cluster_from(const StoredCluster& row);
ClusterSource bundled_cluster(std::string_view name);  // of sample_graphs/clusters

// The same problem grouped otherwise, for instance by a plan.
PreparedProblem regrouped(const PreparedProblem& prepared, Grouping grouping);
PreparedProblem prepare(const ModelSource& model, const ClusterSource& cluster,
                        const CostSources& costs);
// The same graph and groups with other costs.
PreparedProblem recosted(const PreparedProblem& prepared, const CostSources& costs);

}  // namespace strato
