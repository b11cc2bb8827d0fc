// The attention of a planner's policy when it places an op: see Planner::attention().
#pragma once

#include <span>
#include <vector>

#include "core/graph/value/graph.h"

namespace strato {

// The attention of one policy on one problem. Immutable; safe from several threads.
class Attention {
 public:
  virtual ~Attention() = default;
  // Returns by op of the graph its part of the attention when these ops are placed, the mean over
  // what is placed as one (co-located ops, among which a part is shared equally). Sums to 1; zeros
  // for no op.
  virtual std::vector<double> of(std::span<const OpId> ops) const = 0;
};

}  // namespace strato
