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
#include <vector>

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

// Columns. The paper's come first in every table.
inline constexpr std::size_t kOpColumns = 8;       // computation time, parameters, (+) 6
inline constexpr std::size_t kDeviceColumns = 8;   // GPUs, memory, bandwidth, (+) 5
inline constexpr std::size_t kOpOpColumns = 4;     // bytes v to u, bytes u to v, itself, (+) 1
inline constexpr std::size_t kLinkColumns = 3;     // bandwidth, itself, (+) 1
inline constexpr std::size_t kActionColumns = 6;   // mode one-hot 4, (+) 2
inline constexpr std::size_t kOpStateColumns = 9;  // mode 4, makespan, idle, decided, next, (+) 1
inline constexpr std::size_t kDeviceStateColumns = 3;  // peak memory, idle, (+) 1
inline constexpr std::size_t kPlacementColumns = 3;    // placed, (+) part of the devices, share
inline constexpr std::size_t kSliceColumns = 8;  // (+) all: rough time, its rank, against the first
                                                 // group's decision, is that decision, neighbours
                                                 // decided alike, bytes that stay, fullest device,
                                                 // idling
// The paper has this many of them.
inline constexpr std::size_t kPaperOpColumns = 2, kPaperDeviceColumns = 3, kPaperOpOpColumns = 3,
                             kPaperLinkColumns = 2, kPaperActionColumns = 4,
                             kPaperOpStateColumns = 8, kPaperDeviceStateColumns = 2,
                             kPaperPlacementColumns = 1;

// Part 1 of the features, and the actions: the same for all queries of one search. N op groups, M
// device groups, A actions, E edges.
struct ProblemFeatures {
  Table op;                           // N x kOpColumns
  Table device;                       // M x kDeviceColumns
  std::vector<std::int32_t> sources;  // E: messages go from sources[e] to targets[e]; ascending by
  std::vector<std::int32_t> targets;  //    (target, source), every group to itself among them
  Table op_op;                        // E x kOpOpColumns
  Table link;                         // M * M x kLinkColumns, from row / M to row % M
  Table speed;                        // N x M (+): how fast the group runs on those GPUs
  Table used;                         // A x M: part of the group's devices that the action uses
  Table share;                        // A x M: part of the batch that they get
  Table action;                       // A x kActionColumns

  std::size_t op_groups() const { return op.rows; }
  std::size_t device_groups() const { return device.rows; }
  std::size_t actions() const { return action.rows; }
};

// Parts 2 to 4: one query.
struct StateFeatures {
  Table op;                  // N x kOpStateColumns
  Table device;              // M x kDeviceStateColumns
  Table placement;           // N * M x kPlacementColumns, op group row / M on device group row % M
  std::vector<float> idle;   // M * M: of the links between two device groups
  Table slice;               // A x kSliceColumns: the actions as the next group sees them
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

}  // namespace strato::tag
