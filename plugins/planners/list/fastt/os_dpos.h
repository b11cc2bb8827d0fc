// OS-DPOS (FastT 5.2, Algorithm 2): ops on the critical path of the schedule are split, the longest
// first, each along the axis and into the number of parts with which DPOS finishes first, as long
// as that is sooner than before. And what Theorem 1 says about a schedule.
#pragma once

#include <memory>
#include <stop_token>
#include <vector>

#include "core/search/api/planner.h"
#include "plugins/planners/list/fastt/split_operation.h"

namespace strato::fastt {

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
