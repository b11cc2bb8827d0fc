// A training learns on these problems: every model on every cluster, given ones and random ones.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/random.h"
#include "core/cluster/vary/random_cluster.h"
#include "core/search/api/trainer.h"

namespace strato::learned {

// The seed of draw `number` for a purpose, of a training's one seed; `rank` where every process
// draws its own. What is drawn for one purpose does not depend on what was drawn for another, nor
// on pauses.
std::uint64_t random_stream(std::uint64_t seed, std::string_view purpose, std::int64_t number,
                            std::optional<int> rank = {});

// One model on one cluster, by their indices: given clusters first, then random ones.
struct ProblemKey {
  std::int32_t model = 0, cluster = 0;
  friend auto operator<=>(const ProblemKey&, const ProblemKey&) = default;
};

// Immutable after construction; safe from any thread.
class TrainingProblems {
 public:
  // Draws the random clusters and, behind them, `held_out` more. Throws InputError where there is
  // no model or no cluster. Graphs are grouped into at most `groups`.
  TrainingProblems(const TrainingOptions& options, int groups,
                   const RandomClusterOptions& random = {}, int held_out = 0);

  std::int32_t model_count() const { return static_cast<std::int32_t>(graphs_.size()); }
  std::int32_t cluster_count() const { return static_cast<std::int32_t>(clusters_.size()); }
  // The clusters before the last `held_out` ones.
  ProblemKey draw(Random& random, std::int32_t held_out = 0) const;
  Problem problem(const ProblemKey& key) const;
  std::string name(const ProblemKey& key) const;  // "vgg19 on random-7"
  // The models, and the clusters, one a line: what a checkpoint belongs to.
  std::string fingerprint() const;
  Digest digest() const;  // of the same

 private:
  const int groups_;
  std::vector<std::string> names_;
  std::vector<std::shared_ptr<const Graph>> graphs_;  // training graphs
  std::vector<std::shared_ptr<const Cluster>> clusters_;
};

}  // namespace strato::learned
