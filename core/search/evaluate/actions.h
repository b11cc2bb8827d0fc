// The actions of a search over strategies: what one op group may be told (TAG 4.2.2: a non-empty
// set of device groups x 4 modes), without those that cannot differ.
//
// 2^M - 1 sets of M device groups explode, so symmetric device groups (same GPU, same count, and
// exchanging them changes no path) count as one class: only how many of a class are used matters,
// and the lowest are taken. The TAG testbed has (1+1)(4+1)(2+1)-1 = 29 sets instead of 127, sixteen
// equal machines 16 instead of 65,535. On one device all modes are the same, so there is one
// action.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/search/api/problem.h"
#include "core/strategy/value/strategy.h"

namespace strato {

struct ActionOptions {
  bool merge_symmetric = true;
  bool proportional_shares = true;  // beside even shares, where GPU types differ (beyond the paper)
  bool single_devices =
      true;  // every device alone (the paper: "one or all devices"), up to 32 devices
  bool part_groups = true;     // half, a quarter, ... of one device group (beyond the paper)
  std::size_t max_sets = 255;  // sets of device groups; above: only the plausible ones
};

// True when exchanging these devices, place by place, leaves every type and path as it was.
bool can_be_exchanged(const Cluster& cluster, std::span<const DeviceId> first,
                      std::span<const DeviceId> second);
// Classes of symmetric device groups; each ascending, classes ascending by their first.
std::vector<std::vector<DeviceGroupId>> symmetric_classes(const Cluster& cluster);
// Non-empty sets of device groups, each ascending; no duplicates.
std::vector<std::vector<DeviceGroupId>> device_group_sets(const Problem& problem,
                                                          const ActionOptions& options);
// Deterministic, no duplicates; the first is data parallel with AllReduce on all devices.
std::vector<Decision> make_actions(const Problem& problem, const ActionOptions& options);

// A rough, fast guess of how long a group takes under a decision: compute on the slowest share,
// gradients over the slowest path, inputs gathered. It orders actions; nobody is promised anything
// by it.
class ActionEstimate {
 public:
  explicit ActionEstimate(const Problem& problem);
  // Seconds for one group on its own.
  double group_seconds(GroupId group, const Decision& decision) const;
  // Seconds for the whole graph under one decision; decisions that look too large for memory
  // come after all others.
  double graph_seconds(const Decision& decision) const;

 private:
  struct Load {
    std::vector<double> seconds;  // by GPU type, full batch
    double parameter_bytes = 0;
    double input_bytes = 0;  // from other groups
  };
  double seconds(const Load& load, const Decision& decision) const;
  double slowest_bandwidth(const Decision& decision) const;

  Problem problem_;
  IdVector<GroupId, Load> groups_;
  Load total_;
  double resident_bytes_ = 0;  // parameters, gradients, optimizer state
};

// Returns the legal actions of every depth of the search, most plausible first: for the first group
// (all others follow it; `first` is its depth when a person has decided those before) by
// graph_seconds, then by group_seconds. For a group without parameters, PS equals AllReduce and is
// left out behind the first. `noise` (0: none) moves actions about that many ranks, from the seed.
std::vector<std::vector<std::int32_t>> rank_actions(const Problem& problem,
                                                    const std::vector<Decision>& actions,
                                                    const std::vector<GroupId>& order,
                                                    std::uint64_t seed, double noise,
                                                    std::size_t first = 0);

}  // namespace strato
