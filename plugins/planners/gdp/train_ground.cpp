#include "plugins/planners/gdp/train_ground.h"

#include <fmt/format.h>

#include "core/base/digest.h"
#include "core/base/error.h"
#include "core/base/random.h"
#include "core/cluster/vary/random_cluster.h"
#include "core/cost/model/measured_cost_model.h"
#include "core/graph/group/metis_grouping.h"
#include "core/graph/train/simplify.h"
#include "core/graph/train/training_graph.h"

namespace strato::gdp {
namespace {

// GDP places on up to eight devices (section 4.1).
RandomClusterOptions small_clusters() {
  RandomClusterOptions options;
  options.most_machines = 3;
  options.most_gpus = 4;
  return options;
}

}  // namespace

std::uint64_t training_stream(std::uint64_t seed, const char* what, std::int64_t number) {
  return Hasher().text(what).number(seed).number(number).finish().low;
}

TrainGround::TrainGround(const TrainingOptions& options, int groups, int held_out)
    : options_(options), groups_(groups), clusters_(options.clusters) {
  for (const TrainingModel& model : options.models)
    graphs_.push_back(std::make_shared<const Graph>(
        make_training_graph(simplify(*model.graph, false), Optimizer::Adam)));
  if (options.random_clusters > 0) held_out_ = static_cast<std::size_t>(held_out);
  // The draw may give a single GPU, on which there is nothing to decide.
  const std::size_t count =
      clusters_.size() + static_cast<std::size_t>(options.random_clusters) + held_out_;
  for (std::int64_t draw = 0; clusters_.size() < count; ++draw) {
    auto cluster = std::make_shared<const Cluster>(
        random_cluster(training_stream(options.seed, "training cluster", draw), small_clusters()));
    if (cluster->device_count() > 1) clusters_.push_back(std::move(cluster));
  }
  if (graphs_.empty() || clusters_.empty())
    throw InputError("", "training", "there is no model or no cluster to learn on",
                     "name a model, and ask for random clusters (--clusters 100) or name one");
}

Pair TrainGround::pair(std::int64_t number, double whole) const {
  Random random(training_stream(options_.seed, "visit", number));
  Pair pair;
  pair.model = random.below(graphs_.size());
  pair.cluster = random.below(clusters_.size() - held_out_);
  pair.whole = random.uniform() < whole;
  return pair;
}

Pair TrainGround::held_out_pair(std::int64_t number) const {
  const auto at = static_cast<std::size_t>(number);
  const std::size_t first = held_out_ > 0 ? clusters_.size() - held_out_ : 0;
  return {at % graphs_.size(), first + at % (clusters_.size() - first), at % 2 == 0};
}

std::string TrainGround::name(const Pair& pair) const {
  return fmt::format("{} on {}", options_.models[pair.model].name, clusters_[pair.cluster]->name());
}

std::string TrainGround::fingerprint() const {
  Hasher hasher;
  for (const auto& graph : graphs_) hasher.digest(graph->digest());
  for (const auto& cluster : clusters_) hasher.digest(cluster->digest());
  return hasher.finish().hex();
}

Problem TrainGround::problem(const Pair& pair) const {
  Problem problem;
  problem.graph = graphs_[pair.model];
  problem.cluster = clusters_[pair.cluster];
  problem.cost = make_cost_model(problem.graph, problem.cluster, CostSources());
  MetisOptions grouping;
  grouping.max_groups = groups_;
  problem.grouping = std::make_shared<const Grouping>(group_by_metis(
      *problem.graph, mean_op_times(*problem.graph, *problem.cluster, *problem.cost), grouping));
  return problem;
}

}  // namespace strato::gdp
