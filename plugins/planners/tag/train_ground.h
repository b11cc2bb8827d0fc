// The problems that a training searches: every model on every cluster, made when first needed.
#pragma once

#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "core/search/api/trainer.h"
#include "core/sim/timeline/feedback.h"
#include "plugins/planners/tag/features.h"
#include "plugins/planners/tag/train_settings.h"

namespace strato::tag {

// One model on one cluster.
struct Ground {
  Problem problem;
  std::vector<GroupId> order;  // of the search's decisions
  FeatureMaker maker;          // its actions are the search's
  double feedback = 1;         // part of its examples that see runtime feedback
};

struct GroundKey {
  std::int32_t model = 0;    // index into TrainingOptions::models
  std::int32_t cluster = 0;  // given ones first, then random ones
  friend auto operator<=>(const GroundKey&, const GroundKey&) = default;
};

// How searches of a training run; the features of an example follow from it.
TreeSearchOptions search_options(const TrainSettings& settings);

// Thread-safe. Keeps the grounds that were used last.
class Grounds {
 public:
  // Throws InputError when there is nothing to train on.
  Grounds(const TrainingOptions& options, const TrainSettings& settings);

  std::int32_t model_count() const { return static_cast<std::int32_t>(graphs_.size()); }
  std::int32_t cluster_count() const { return static_cast<std::int32_t>(clusters_.size()); }
  const std::string& model_name(std::int32_t model) const;
  const Cluster& cluster(std::int32_t index) const;
  std::shared_ptr<const Ground> ground(const GroundKey& key);
  // Models and clusters, one a line: what a checkpoint belongs to.
  std::string fingerprint() const;

 private:
  std::shared_ptr<const Ground> make(const GroundKey& key) const;

  const TrainSettings settings_;
  std::vector<std::string> names_;
  std::vector<std::shared_ptr<const Graph>> graphs_;  // training graphs
  std::vector<std::shared_ptr<const Cluster>> clusters_;
  std::mutex mutex_;
  std::list<std::pair<GroundKey, std::shared_ptr<const Ground>>> latest_;  // newest first
};

}  // namespace strato::tag
