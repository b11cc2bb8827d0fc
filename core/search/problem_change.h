// What if the problem itself were another: its batch, its network, its devices. A strategy for a
// problem is carried over to the changed one, so that the two can be compared.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/cluster/changed_cluster.h"
#include "core/search/evaluator.h"
#include "core/search/problem.h"

namespace strato {

struct ProblemChange {
  std::optional<std::int64_t> batch;  // nothing: as it is
  double speed = 1;                   // of all devices: an op takes 1/speed of its time
  ClusterChange cluster;

  friend bool operator==(const ProblemChange&, const ProblemChange&) = default;
};

// "batch 64, network x2, 3 v100"; "as it is".
std::string describe(const ProblemChange& change);

struct ChangedProblem {
  // Its grouping is that of the problem as it was: the same ops under the same ids. (Its edges are
  // still those of the batch as it was.)
  Problem problem;
  ChangedCluster cluster;
  std::vector<std::string> remarks;  // what could not be taken along, one sentence each
};

// Makes changed problems of one problem, and keeps the graphs of the last few batches. Not safe
// from several threads at once.
class ProblemChanger {
 public:
  // `costs`: what the problem's costs were made from.
  ProblemChanger(Problem problem, CostSources costs);

  const Problem& problem() const { return problem_; }
  // Throws InputError, as with_batch and change_cluster do, and for a speed outside
  // [1/1024, 1024].
  ChangedProblem apply(const ProblemChange& change);

 private:
  std::shared_ptr<const Graph> graph_with(std::int64_t batch);

  Problem problem_;
  CostSources costs_;
  std::deque<std::pair<std::int64_t, std::shared_ptr<const Graph>>> graphs_;  // latest first
};

// The strategy on the changed problem. Machines that are gone leave their work to the devices that
// their groups still have, else to the same places of the machines that stay. More machines take
// part where a group's batch is split over several devices (or over all there are), with the
// weight of what they are copies of. Complete and valid when `strategy` is.
Strategy carry_over(const Strategy& strategy, const ChangedProblem& changed);

// What one looks at, of one strategy on one problem.
struct StepFigures {
  Nanos step_time;
  double samples_per_second = 0;
  // Of what the cluster's devices could do at their full speed, without communication and waiting:
  // 1 is the best.
  double efficiency = 0;
  bool feasible = false;
  DeviceId fullest;      // by peak / capacity
  Bytes peak, capacity;  // of the fullest device
};
StepFigures figures_of(const Problem& problem, const Outcome& outcome);

}  // namespace strato
