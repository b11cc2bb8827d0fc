// OS-DPOS (FastT 5.2, Algorithm 2): ops on the critical path of the schedule are split, the longest
// first, each along the axis and into the number of parts with which DPOS finishes first, as long
// as that is sooner than before. And what Theorem 1 says about a schedule.
#pragma once

#include <memory>
#include <optional>
#include <stop_token>
#include <vector>

#include "core/graph/axes/split_axes.h"
#include "core/schedule/list/dpos.h"
#include "core/search/api/planner.h"
#include "core/strategy/value/part.h"
#include "plugins/planners/list/fastt/replica_graph.h"

namespace strato::fastt {

// SplitOperation as an edit of the scheduled graph.
//
// Along the batch one node, a replica or an op that stands once, becomes parts with some of its
// samples each. Along another axis all replicas of an op become slices that have the whole batch.
// A split node cuts what comes from one predecessor, where it is cut at all; a join node puts
// together what one successor reads; partial sums go to the gradient's sum as they are.
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

// A graph and its schedule, which splits change.
struct Plan {
  ReplicaGraph graph;
  std::unique_ptr<Dpos> dpos;
  IdVector<OpId, int> split_axis;  // of ops with slices; kBatchAxis: of no others
  std::vector<PlanningSteps::Trial> trials;
};
Plan make_plan(const Problem& problem, std::size_t replicas, const DposOptions& options);

struct SplitOptions {
  bool axes = true;                // other axes than the batch, too
  int patience = 0;                // how many ops may not be worth splitting before it ends
  std::size_t trials = 8'000'000;  // ends after about as many nodes that were placed again
};
// Fills plan.trials: the best split of each op, in order. The number of splits that were taken.
int os_dpos(const Problem& problem, Plan& plan, const SplitOptions& options,
            const std::stop_token& stop);

// The critical path with the times of the schedule, from the node with the longest way to the end.
std::vector<NodeIndex> scheduled_critical_path(const Dpos& dpos);

// FastT's Theorem 1: on equal devices with enough memory DPOS finishes within 2 w_opt + C_max,
// where w_opt is the best finish time without any transfer time and C_max the most transfer time
// along a chain. w_opt is not known, but it is at least the longest chain of the shortest times,
// and at least the sum of these times divided by the number of devices; that gives a factor of
// w_opt which the schedule is certain to be within, on any devices.
struct Bound {
  Nanos finish;             // of the schedule
  Nanos least;              // w_opt is at least this
  Nanos longest_transfers;  // C_max
  double ratio() const;     // finish / least: at most so many times w_opt
};
Bound bound_of(const Dpos& dpos);
std::vector<PlanResult::Fact> facts(const Bound& bound);

}  // namespace strato::fastt
