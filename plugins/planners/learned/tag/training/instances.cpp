#include "plugins/planners/learned/tag/training/instances.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/search/evaluate/simulating_evaluator.h"
#include "core/search/tree/search_tree.h"

namespace strato::tag {
namespace {

constexpr std::size_t kKept = 64;  // an instance of a large model takes some megabytes

void refuse_single_gpus(const TrainingOptions& options) {
  for (const auto& cluster : options.clusters)
    if (cluster->device_count() < 2)
      throw InputError("", cluster->name(), "has a single GPU: there is nothing to decide",
                       "train on clusters of two GPUs or more");
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

TrainingInstances::TrainingInstances(const TrainingOptions& options, const TrainSettings& settings)
    : settings_(settings), problems_((refuse_single_gpus(options), options), settings.groups) {}

std::shared_ptr<const TrainingInstance> TrainingInstances::make(const ProblemKey& key) const {
  Problem problem = problems_.problem(key);
  SearchTree tree = empty_search(problem, settings_);
  FeatureMaker maker(problem, std::move(tree.actions));
  return std::make_shared<const TrainingInstance>(TrainingInstance{
      std::move(problem), std::move(tree.order), std::move(maker), settings_.feedback});
}

std::shared_ptr<const TrainingInstance> TrainingInstances::instance(const ProblemKey& key) {
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

}  // namespace strato::tag
