#include <fmt/format.h>

#include "core/cost/model/measured_cost_model.h"
#include "core/graph/group/metis_grouping.h"
#include "core/graph/train/training_graph.h"
#include "plugins/planners/learned/kit/training/training.h"

namespace strato::learned {

std::uint64_t random_stream(std::uint64_t seed, std::string_view purpose, std::int64_t number,
                            std::optional<int> rank) {
  Hasher hasher;
  hasher.text(purpose).number(seed).number(number);
  if (rank) hasher.number(*rank);
  return hasher.finish().low;
}

TrainingProblems::TrainingProblems(const TrainingOptions& options, int groups,
                                   const RandomClusterOptions& random, int held_out)
    : groups_(groups), clusters_(options.clusters) {
  for (const TrainingModel& model : options.models) {
    names_.push_back(model.name);
    graphs_.push_back(std::make_shared<const Graph>(
        make_training_graph(simplify(*model.graph, false), Optimizer::Adam)));
  }
  const std::size_t count =
      clusters_.size() + static_cast<std::size_t>(options.random_clusters + held_out);
  // The draw may give a single GPU, on which there is nothing to decide: those are passed over.
  for (std::int64_t draw = 0; clusters_.size() < count; ++draw) {
    auto cluster = std::make_shared<const Cluster>(
        random_cluster(random_stream(options.seed, "training cluster", draw), random));
    if (cluster->device_count() > 1) clusters_.push_back(std::move(cluster));
  }
  if (graphs_.empty())
    throw InputError("", "training", "no model is left to learn from", "name at least one");
  if (clusters_.empty())
    throw InputError("", "training", "there is no cluster to learn on",
                     "ask for random ones (--clusters 100), or name one");
}

ProblemKey TrainingProblems::draw(Random& random, std::int32_t held_out) const {
  const auto any = [&](std::int32_t count) {
    return static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(count)));
  };
  const std::int32_t model = any(model_count());
  return {model, any(cluster_count() - held_out)};
}

Problem TrainingProblems::problem(const ProblemKey& key) const {
  Problem problem;
  problem.graph = graphs_[static_cast<std::size_t>(key.model)];
  problem.cluster = clusters_[static_cast<std::size_t>(key.cluster)];
  problem.cost = make_cost_model(problem.graph, problem.cluster, CostSources());
  MetisOptions grouping;
  grouping.max_groups = groups_;
  const auto times = mean_op_times(*problem.graph, *problem.cluster, *problem.cost);
  problem.grouping =
      std::make_shared<const Grouping>(group_by_metis(*problem.graph, times, grouping));
  return problem;
}

std::string TrainingProblems::name(const ProblemKey& key) const {
  return fmt::format("{} on {}", names_[static_cast<std::size_t>(key.model)],
                     clusters_[static_cast<std::size_t>(key.cluster)]->name());
}

std::string TrainingProblems::fingerprint() const {
  std::string text;
  for (std::size_t i = 0; i < graphs_.size(); ++i)
    text += fmt::format("model={} {}\n", names_[i], graphs_[i]->digest().hex());
  Hasher clusters;
  for (const auto& cluster : clusters_) clusters.digest(cluster->digest());
  return text + fmt::format("clusters={} {}\n", clusters_.size(), clusters.finish().hex());
}

Digest TrainingProblems::digest() const {
  Hasher hasher;
  for (const auto& graph : graphs_) hasher.digest(graph->digest());
  for (const auto& cluster : clusters_) hasher.digest(cluster->digest());
  return hasher.finish();
}

}  // namespace strato::learned
