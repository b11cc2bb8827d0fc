// Part 1 of the features: what is the same for all queries of one search.
#pragma once

#include <memory>
#include <vector>

#include "core/search/api/problem.h"
#include "plugins/planners/learned/tag/network/features.h"

namespace strato::tag {

// Another op group that exchanges tensors with a group.
struct Neighbour {
  std::int32_t group;
  float weight;  // part of the bytes around the group
};
using Neighbours = std::vector<std::vector<Neighbour>>;  // by group

// The device groups that a decision uses.
struct DecisionPlaces {
  std::vector<float> used;   // by device group: the part of its devices
  std::vector<float> share;  // by device group: the part of the batch
};
DecisionPlaces places_of(const Decision& decision, const Cluster& cluster);

// Makes them once, in its constructor. Refers to both arguments.
class ProblemFeatureMaker {
 public:
  ProblemFeatureMaker(const Problem& problem, const std::vector<Decision>& actions);

  std::shared_ptr<const ProblemFeatures> features() const { return features_; }
  const Neighbours& neighbours() const { return neighbours_; }

 private:
  void measure();
  double relative_seconds(std::size_t group) const;
  void fill_op_groups();
  void fill_device_groups();
  void fill_edges();
  void fill_actions();

  const Problem& problem_;
  const std::vector<Decision>& actions_;
  std::vector<double> type_seconds_;  // whole graph, by GPU type
  Table group_seconds_;               // N x GPU types
  double scale_ = 1;                  // seconds of an ideal step: all work on all devices
  double slowest_ = 1;                // bandwidth of the slowest path
  Neighbours neighbours_;
  std::shared_ptr<ProblemFeatures> features_;
};

}  // namespace strato::tag
