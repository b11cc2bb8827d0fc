// The features that GDP's network sees of a graph and of the places that its ops may go to
// (GDP 3.1: "meta features, e.g. operation type, output shape, adjacent node ids"), as flat arrays,
// and nothing of LibTorch.
//
// Everything is relative, so that one network serves any graph and any cluster: times to the whole
// graph's, bytes as time on the cluster's mean path, memory to a device's. All values are finite
// and between -2 and 2. Columns marked (+) go beyond the paper; its variant is not shown them.
#pragma once

#include <cstdint>
#include <vector>

#include "core/schedule/dag/dag.h"
#include "core/search/api/problem.h"

namespace strato::gdp {

// Co-location: the ops that GDP places as one.
enum class Colocate {
  Parameters,  // what reads a parameter, and its update (TensorFlow's rule; Celeritas 6.1)
  Gradients,   // these, and every backward op with its forward op
};

// Units are numbered by their first ops.
struct Units {
  std::vector<std::int32_t> of_op;
  std::vector<OpId> leader;  // by unit: its first op that is forward, else its first op
  std::int32_t count = 0;
};
Units units_of(const Problem& problem, const Dag& dag, Colocate colocate);

inline constexpr std::int64_t kFamilies = 14;     // of ops: columns of a one-hot
inline constexpr std::int64_t kShapeColumns = 4;  // log2 of the output's first extents
inline constexpr std::int64_t kCostColumns = 19;  // (+) time 2, memory 2, bytes in and out, ...
inline constexpr std::int64_t kUnitColumns = kFamilies + kShapeColumns + kCostColumns;
inline constexpr std::int64_t kTypes = 128;        // rows of the table of op types (by their hash)
inline constexpr std::int64_t kChoiceColumns = 7;  // (+) devices, speed, memory, bandwidth, ...
inline constexpr std::int64_t kChoiceRows = 64;    // of the table of choices (by their index)
inline constexpr std::int64_t kTurnColumns = 2;    // decided in this round, decided now

struct GraphFeatures {
  std::int32_t units = 0, neighbours = 0, choices = 0;
  std::vector<float> unit;         // units x kUnitColumns
  std::vector<std::int64_t> type;  // by unit: row of the table of op types
  // units x neighbours: those with the most bytes between, in either direction; `units`: none.
  std::vector<std::int64_t> adjacent;
  std::vector<float> choice;  // choices x kChoiceColumns
  // A step-wise policy has these (Placeto); else they are empty. By unit: the choice it has now,
  // and units x kTurnColumns.
  std::vector<std::int64_t> placed;
  std::vector<float> turn;
};

// `choices`: what a unit may be told. At most `neighbours` of each unit (gs_knn of GDP table 3).
GraphFeatures features_of(const Problem& problem, const Dag& dag, const Units& units,
                          const std::vector<Decision>& choices, int neighbours);

}  // namespace strato::gdp
