// Makes the features of one problem's queries.
#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "core/search/portfolio/tree_search.h"
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

// Part 1 of the features; fills `neighbours`, too.
std::shared_ptr<const ProblemFeatures> problem_features(const Problem& problem,
                                                        const std::vector<Decision>& actions,
                                                        Neighbours& neighbours);

// Immutable once made: any thread may use it.
class FeatureMaker {
 public:
  FeatureMaker(const Problem& problem, std::vector<Decision> actions);

  std::shared_ptr<const ProblemFeatures> problem() const { return features_; }
  const std::vector<Decision>& actions() const { return actions_; }
  // `score` is that of the completed partial strategy; without feedback its columns are 0.
  StateFeatures state(const PriorQuery& query) const;

 private:
  struct Placement : DecisionPlaces {
    std::int32_t action = -1;  // index of the decision, -1 when it is none of the actions
  };
  Placement place(const Decision& decision) const;
  void fill_feedback(StateFeatures& state, const Score& score) const;
  void fill_times(StateFeatures& state, std::int32_t first, bool at_root) const;
  void fill_neighbourhood(StateFeatures& state, const std::vector<Placement>& placements) const;
  void fill_pressure(StateFeatures& state) const;

  Problem problem_;
  std::vector<Decision> actions_;
  std::unordered_map<Digest, std::int32_t> index_;  // of actions, by digest of the decision
  Neighbours neighbours_;
  Table seconds_;  // (N + 1) x A: rough time of a group under an action, last row: the graph
  std::shared_ptr<const ProblemFeatures> features_;
};

}  // namespace strato::tag
