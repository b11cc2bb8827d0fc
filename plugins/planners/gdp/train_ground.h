// What the trainer of `gdp` learns on: pairs of a model and a cluster, drawn by number.
//
// Immutable after construction; safe from any thread.
#pragma once

#include <string>

#include "core/search/api/trainer.h"
#include "plugins/planners/gdp/placement_task.h"

namespace strato::gdp {

struct Pair {
  std::size_t model = 0, cluster = 0;
  bool whole = false;  // every unit on one device
};

class TrainGround {
 public:
  // Draws the random clusters. Throws InputError where there is no model or no cluster.
  TrainGround(const TrainingOptions& options, int groups, int held_out);

  // Equal arguments, equal pair; `whole`: the part of the pairs on which every unit goes to one
  // device.
  Pair pair(std::int64_t number, double whole) const;
  // One model after another, each on a random cluster of its own; without random clusters, on those
  // of the training.
  Pair held_out_pair(std::int64_t number) const;
  Problem problem(const Pair& pair) const;
  std::string name(const Pair& pair) const;  // "vgg19 on random-7"
  std::string fingerprint() const;           // of the graphs and the clusters
  const TrainingOptions& options() const { return options_; }

 private:
  const TrainingOptions& options_;
  const int groups_;
  std::vector<std::shared_ptr<const Graph>> graphs_;      // training graphs
  std::vector<std::shared_ptr<const Cluster>> clusters_;  // those held out come last
  std::size_t held_out_ = 0;                              // clusters
};

// Independent streams of one seed.
std::uint64_t training_stream(std::uint64_t seed, const char* what, std::int64_t number);

}  // namespace strato::gdp
