// The instances that a training's searches search: every model on every cluster with what the
// search decides there, made when first needed.
#pragma once

#include <list>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "plugins/planners/learned/kit/training/problems.h"
#include "plugins/planners/learned/tag/network/feature_maker.h"
#include "plugins/planners/learned/tag/training/settings.h"

namespace strato::tag {

using learned::ProblemKey;

// One model on one cluster.
struct TrainingInstance {
  Problem problem;
  std::vector<GroupId> order;  // of the search's decisions
  FeatureMaker maker;          // its actions are the search's
  double feedback = 1;         // part of its examples that see runtime feedback
};

// The options of a training's searches; the features of an example follow from it.
TreeSearchOptions search_options(const TrainSettings& settings);

// Thread-safe. Keeps the instances that were used last.
class TrainingInstances {
 public:
  // Throws InputError when there is nothing to train on.
  TrainingInstances(const TrainingOptions& options, const TrainSettings& settings);

  const learned::TrainingProblems& problems() const { return problems_; }
  std::shared_ptr<const TrainingInstance> instance(const ProblemKey& key);

 private:
  std::shared_ptr<const TrainingInstance> make(const ProblemKey& key) const;

  const TrainSettings settings_;
  const learned::TrainingProblems problems_;
  std::mutex mutex_;
  std::list<std::pair<ProblemKey, std::shared_ptr<const TrainingInstance>>>
      latest_;  // newest first
};

}  // namespace strato::tag
