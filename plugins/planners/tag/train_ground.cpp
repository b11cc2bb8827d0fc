#include "plugins/planners/tag/train_ground.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/cluster/vary/random_cluster.h"
#include "core/cost/model/measured_cost_model.h"
#include "core/graph/group/metis_grouping.h"
#include "core/graph/train/optimizer.h"
#include "core/graph/train/simplify.h"
#include "core/graph/train/training_graph.h"
#include "core/search/evaluate/simulating_evaluator.h"
#include "core/search/tree/search_tree.h"

namespace strato::tag {
namespace {

constexpr std::size_t kKept = 64;  // a ground of a large model takes some megabytes

// Seeds of the random clusters: apart for every seed of a training, and from small numbers, which
// people try networks on.
std::uint64_t cluster_seed(std::uint64_t seed, std::uint64_t draw) {
  return Hasher().text("training cluster").number(seed).number(draw).finish().low;
}

// The paper's draw may give a single GPU, on which there is nothing to decide: those are passed
// over.
std::vector<std::shared_ptr<const Cluster>> draw_clusters(int count, std::uint64_t seed) {
  std::vector<std::shared_ptr<const Cluster>> clusters;
  for (std::uint64_t draw = 0; clusters.size() < static_cast<std::size_t>(count); ++draw) {
    auto cluster = std::make_shared<const Cluster>(random_cluster(cluster_seed(seed, draw)));
    if (cluster->device_count() > 1) clusters.push_back(std::move(cluster));
  }
  return clusters;
}

// A search that does nothing tells how it would decide.
SearchTree empty_search(const Problem& problem, const TrainSettings& settings) {
  const auto evaluator = make_simulating_evaluator(problem, 1);
  PlannerOptions common;
  common.iterations = 0;
  Observer observer;
  const auto prior = make_uniform_prior();
  return *tree_search(problem, *evaluator, *prior, common, search_options(settings), observer, {},
                      nullptr)
              .tree;
}

}  // namespace

TreeSearchOptions search_options(const TrainSettings& settings) {
  TreeSearchOptions options;
  options.polish = settings.polish;
  return options;
}

Grounds::Grounds(const TrainingOptions& options, const TrainSettings& settings)
    : settings_(settings), clusters_(options.clusters) {
  for (const TrainingModel& model : options.models) {
    names_.push_back(model.name);
    graphs_.push_back(std::make_shared<const Graph>(
        make_training_graph(simplify(*model.graph, false), Optimizer::Adam)));
  }
  for (const auto& cluster : clusters_) {
    if (cluster->device_count() > 1) continue;
    throw InputError("", cluster->name(), "has a single GPU: there is nothing to decide",
                     "train on clusters of two GPUs or more");
  }
  for (auto& cluster : draw_clusters(options.random_clusters, options.seed))
    clusters_.push_back(std::move(cluster));
  if (graphs_.empty())
    throw InputError("", "training", "no model is left to learn from", "name at least one");
  if (clusters_.empty())
    throw InputError("", "training", "there is no cluster to learn on",
                     "ask for random ones (--clusters 100), or name one");
}

const std::string& Grounds::model_name(std::int32_t model) const {
  return names_[static_cast<std::size_t>(model)];
}

const Cluster& Grounds::cluster(std::int32_t index) const {
  return *clusters_[static_cast<std::size_t>(index)];
}

std::shared_ptr<const Ground> Grounds::make(const GroundKey& key) const {
  Problem problem;
  problem.graph = graphs_[static_cast<std::size_t>(key.model)];
  problem.cluster = clusters_[static_cast<std::size_t>(key.cluster)];
  problem.cost = make_cost_model(problem.graph, problem.cluster, CostSources());
  MetisOptions grouping;
  grouping.max_groups = settings_.groups;
  const auto times = mean_op_times(*problem.graph, *problem.cluster, *problem.cost);
  problem.grouping =
      std::make_shared<const Grouping>(group_by_metis(*problem.graph, times, grouping));
  SearchTree tree = empty_search(problem, settings_);
  FeatureMaker maker(problem, std::move(tree.actions));
  return std::make_shared<const Ground>(
      Ground{std::move(problem), std::move(tree.order), std::move(maker), settings_.feedback});
}

std::shared_ptr<const Ground> Grounds::ground(const GroundKey& key) {
  {
    const std::lock_guard lock(mutex_);
    const auto at = std::ranges::find(latest_, key, &decltype(latest_)::value_type::first);
    if (at != latest_.end()) {
      latest_.splice(latest_.begin(), latest_, at);
      return latest_.front().second;
    }
  }
  auto made = make(key);  // two threads may make the same: equal, and rare
  const std::lock_guard lock(mutex_);
  latest_.emplace_front(key, made);
  if (latest_.size() > kKept) latest_.pop_back();
  return made;
}

std::string Grounds::fingerprint() const {
  std::string text;
  for (std::size_t i = 0; i < graphs_.size(); ++i)
    text += fmt::format("model={} {}\n", names_[i], graphs_[i]->digest().hex());
  Hasher clusters;
  for (const auto& cluster : clusters_) clusters.digest(cluster->digest());
  return text + fmt::format("clusters={} {}\n", clusters_.size(), clusters.finish().hex());
}

}  // namespace strato::tag
