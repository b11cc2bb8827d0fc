// The double binary tree of a collective. Private to this folder.
#pragma once

#include <vector>

#include "core/cost/collective/plan_builder.h"

namespace strato {

// Parent of each rank in a binary tree over `ranks` ranks in order, of depth ceil(log2(ranks)):
// rank 0 is the root and has one child, every other rank at most two; odd ranks are leaves. -1:
// none.
std::vector<int> binary_tree(int ranks);

// The other tree of the pair: that over the mirrored order (even number of ranks) or the order
// moved by one (odd), in which the leaves of the first are inner nodes.
std::vector<int> twin_tree(int ranks);

// AllReduce, Broadcast or Reduce of `share` of the tensor. Gives the latency.
Nanos send_over_trees(PlanBuilder& plan, Collective kind, const std::vector<DeviceId>& members,
                      double share);

}  // namespace strato
