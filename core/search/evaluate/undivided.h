// Op groups with rows of several columns (MeshRoles::tensor), or with rows that have positions
// among them (MeshRoles::context), of which each device computes all of every op, because none can
// be divided between so many: for people, since nothing is wrong with it.
#pragma once

#include <string>
#include <vector>

#include "core/search/api/problem.h"

namespace strato {

struct UndividedGroup {
  GroupId group;           // of the strategy's grouping
  std::int32_t parts = 1;  // between so many columns, or rows
  bool by_positions = false;
  OpId op;                            // of its ops the one with the most work
  std::vector<std::int64_t> extents;  // of that op's axes beside the batch that could be divided
};

// Ascending. Groups of which an op could be divided, and is not because moving its slices would
// take longer, are not among them. The strategy is complete. Thread-safe.
std::vector<UndividedGroup> undivided_groups(const Problem& problem, const Strategy& strategy);

// 'op group "fc": none of its 6 ops can be divided between 16 columns ("MatMul_7" could be along an
// axis of 84)', "between 3 rows with the same samples"; of several groups the first one, and how
// many more there are. Empty: there are none.
std::string describe_undivided(const Problem& problem, const Strategy& strategy);

}  // namespace strato
