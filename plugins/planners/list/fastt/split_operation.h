// SplitOperation (FastT 5.2, Algorithm 2) as an edit of the scheduled graph.
//
// Along the batch one node, a replica or an op that stands once, becomes parts with some of its
// samples each. Along another axis all replicas of an op become slices that have the whole batch.
// A split node cuts what comes from one predecessor, where it is cut at all; a join node puts
// together what one successor reads; partial sums go to the gradient's sum as they are.
#pragma once

#include <optional>
#include <vector>

#include "core/graph/axes/split_axes.h"
#include "core/schedule/list/dpos.h"
#include "core/strategy/value/part.h"
#include "plugins/planners/list/fastt/replica_graph.h"

namespace strato::fastt {

struct Split {
  DagEdit edit;
  std::vector<NodeInfo> added;  // of edit.added
  OpId op;
  int axis = kBatchAxis;
  int parts = 0;
};

// Returns nothing where the node has fewer samples than parts.
std::optional<Split> split_batch(const Problem& problem, const std::vector<NodeInfo>& nodes,
                                 const Dpos& dpos, NodeIndex node, int parts);
// `replicas`: all nodes of the op.
Split split_axis(const Problem& problem, const std::vector<NodeInfo>& nodes, const Dpos& dpos,
                 const std::vector<NodeIndex>& replicas, const SplitAxis& axis, int parts);

}  // namespace strato::fastt
