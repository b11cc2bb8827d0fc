// The features that TAG's network sees (TAG 4.2.1, Table 1), as flat arrays of floats, and nothing
// of LibTorch.
//
// Everything is relative, so that one network serves any model and any cluster: times to the
// model's total or to the step, bytes as seconds on the cluster's slowest path, memory as a
// fraction of the capacity, idling as a fraction; quantities that vary over decades by their
// logarithm. All values are finite and between -2 and 2.
//
// Beyond Table 1 are the columns marked (+): without them the network cannot tell device groups of
// one size apart by speed, nor see that an action keeps data where it is. A network of the paper's
// variant is not shown them (network.h).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/search/portfolio/tree_search.h"

namespace strato::tag {

// Row-major: value (r, c) is values[r * columns + c].
struct Table {
  std::size_t rows = 0, columns = 0;
  std::vector<float> values;

  Table() = default;
  Table(std::size_t r, std::size_t c) : rows(r), columns(c), values(r * c, 0.0F) {}
  float& at(std::size_t row, std::size_t column) { return values[row * columns + column]; }
  float at(std::size_t row, std::size_t column) const { return values[row * columns + column]; }
};

// The columns of the tables. The paper's come first in every table.
struct Columns {
  std::int64_t op;            // computation time, parameters, (+) 6
  std::int64_t device;        // GPUs, memory, bandwidth, (+) 5
  std::int64_t op_op;         // bytes v to u, bytes u to v, itself, (+) 1
  std::int64_t link;          // bandwidth, itself, (+) 1
  std::int64_t action;        // mode one-hot 4, (+) 2
  std::int64_t op_state;      // mode 4, makespan, idle, decided, next, (+) 1
  std::int64_t device_state;  // peak memory, idle, (+) 1
  std::int64_t placement;     // placed, (+) part of the devices, share
  // (+) all: rough time, its rank, against the first group's decision, is that decision, neighbours
  // decided alike, bytes that stay, fullest device, idling.
  std::int64_t slice;
};
inline constexpr Columns kColumns{8, 8, 4, 3, 6, 9, 3, 3, 8},
    kPaperColumns{2, 3, 3, 2, 4, 8, 2, 1, 0};

// Another op group that exchanges tensors with a group.
struct Neighbour {
  std::int32_t group;
  float weight;  // part of the bytes around the group
};

// Part 1 of the features, and the actions: the same for all queries of one search. N op groups, M
// device groups, A actions, E edges.
struct ProblemFeatures {
  Table op;                           // N x kColumns.op
  Table device;                       // M x kColumns.device
  std::vector<std::int32_t> sources;  // E: messages go from sources[e] to targets[e]; ascending by
  std::vector<std::int32_t> targets;  //    (target, source), every group to itself among them
  Table op_op;                        // E x kColumns.op_op
  Table link;                         // M * M x kColumns.link, from row / M to row % M
  Table speed;                        // N x M (+): how fast the group runs on those GPUs
  Table used;                         // A x M: part of the group's devices that the action uses
  Table share;                        // A x M: part of the batch that they get
  Table action;                       // A x kColumns.action
  std::vector<std::vector<Neighbour>> neighbours;  // by group

  std::size_t op_groups() const { return op.rows; }
  std::size_t device_groups() const { return device.rows; }
  std::size_t actions() const { return action.rows; }
};

// Parts 2 to 4: one query.
struct StateFeatures {
  Table op;                  // N x kColumns.op_state
  Table device;              // M x kColumns.device_state
  Table placement;           // N * M x kColumns.placement, op group row / M on device group row % M
  std::vector<float> idle;   // M * M: of the links between two device groups
  Table slice;               // A x kColumns.slice: the actions as the next group sees them
  std::vector<float> legal;  // A: 1, or 0 for actions that cannot differ from another one
  std::int32_t next = 0;     // the group that is decided next
};

// The scales of the features.
inline float in_range(double value, double low, double high) {
  return static_cast<float>(std::clamp(value, low, high));
}

// log10(value / reference) / 4, from -1 (also for nothing at all) to 1.
inline float log_ratio(double value, double reference) {
  if (value <= 0 || reference <= 0) return -1;
  return in_range(std::log10(value / reference) / 4, -1, 1);
}

inline float log_bandwidth(double bytes_per_second) {
  return in_range(std::log10(std::max(bytes_per_second, 1.0) / 1e9) / 3, -1, 2);
}

inline float log_count(double count) { return in_range(std::log2(count) / 5, 0, 2); }

inline double part(double value, double of) { return of > 0 ? value / of : 0; }

// The device groups that a decision uses.
struct DecisionPlaces {
  std::vector<float> used;   // by device group: the part of its devices
  std::vector<float> share;  // by device group: the part of the batch
};
DecisionPlaces places_of(const Decision& decision, const Cluster& cluster);

std::shared_ptr<const ProblemFeatures> problem_features(const Problem& problem,
                                                        const std::vector<Decision>& actions);

// Makes the features of one problem's queries. Immutable once made: any thread may use it.
class FeatureMaker {
 public:
  FeatureMaker(const Problem& problem, std::vector<Decision> actions);

  std::shared_ptr<const ProblemFeatures> problem() const { return features_; }
  const std::vector<Decision>& actions() const { return actions_; }
  std::int32_t action_of(const Decision& decision) const;  // its index, -1 when it is none of them
  // `score` is that of the completed partial strategy; without feedback its columns are 0.
  StateFeatures state(const PriorQuery& query) const;

 private:
  struct Placement : DecisionPlaces {
    std::int32_t action;  // as action_of()
  };
  void fill_feedback(StateFeatures& state, const Score& score) const;
  void fill_times(StateFeatures& state, std::int32_t first, bool at_root) const;
  void fill_neighbourhood(StateFeatures& state, const std::vector<Placement>& placements) const;
  void fill_pressure(StateFeatures& state) const;

  Problem problem_;
  std::vector<Decision> actions_;
  Table seconds_;  // (N + 1) x A: rough time of a group under an action, last row: the graph
  std::shared_ptr<const ProblemFeatures> features_;
};

}  // namespace strato::tag
