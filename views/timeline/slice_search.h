// Slices found by the words of a query: of an op's name or type, its group, the tensor moved, the
// kind of task, or the device. Pure function; safe from any thread.
#pragma once

#include <QString>
#include <vector>

#include "core/graph/group/grouping.h"
#include "core/sim/engine/simulate.h"

namespace strato {

struct FoundSlices {
  static constexpr std::size_t kMost = 10'000;
  std::vector<TaskId> tasks;  // the longest, longest first; at most kMost
  std::size_t count = 0;      // of all
  Nanos time;                 // of all
};

// Every word must be found, in any letter case; without words nothing is. `grouping` may be null.
FoundSlices find_slices(const Timeline& timeline, const Grouping* grouping, const QString& query);

}  // namespace strato
