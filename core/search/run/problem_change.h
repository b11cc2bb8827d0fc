// Changes the problem itself: its batch, precision, network or devices. A strategy for a problem is
// carried over to the changed one, so that the two can be compared.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/cluster/vary/changed_cluster.h"
#include "core/cost/model/measured_cost_model.h"
#include "core/graph/value/graph.h"
#include "core/search/api/evaluator.h"
#include "core/search/api/problem.h"
#include "core/search/evaluate/outcome.h"

namespace strato {

struct ProblemChange {
  std::optional<std::int64_t> batch;  // nothing: as it is
  double speed = 1;                   // of all devices: an op takes 1/speed of its time
  ClusterChange cluster;
  std::optional<DataType> precision = {};  // nothing: as it is; see with_precision

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

// Makes changed problems of one problem, and keeps the last few changed graphs. Not safe
// from several threads at once.
class ProblemChanger {
 public:
  // `costs`: what the problem's costs were made from.
  ProblemChanger(Problem problem, CostSources costs);

  const Problem& problem() const { return problem_; }
  // Throws InputError, as with_batch, with_precision and change_cluster do, and for a speed outside
  // [1/1024, 1024].
  ChangedProblem apply(const ProblemChange& change);

 private:
  using GraphKey = std::pair<std::int64_t, DataType>;  // batch and precision
  std::shared_ptr<const Graph> graph_with(const ProblemChange& change);

  Problem problem_;
  CostSources costs_;
  DataType precision_;
  std::deque<std::pair<GraphKey, std::shared_ptr<const Graph>>> graphs_;  // latest first
};

// The changed cluster as one that can be kept in a file: faster devices are GPUs of their own
// (whose kernels start no faster, so that small ops take a little longer than the what-if says).
std::shared_ptr<const Cluster> cluster_to_keep(const std::shared_ptr<const Cluster>& cluster,
                                               const ProblemChange& change);
// `model` (forward or training) with the batch and the precision of the change.
Graph changed_graph(const Graph& model, const ProblemChange& change);

// The strategy on the changed problem. Machines that are gone leave their work to the devices that
// their groups still have, else to the same places of the machines that stay. More machines take
// part where a group's batch is split over several devices (or over all there are), with the
// weight of what they are copies of. Complete and valid when `strategy` is.
Strategy carry_over(const Strategy& strategy, const ChangedProblem& changed);

// The figures of one strategy on one problem that people compare.
struct StepFigures {
  Nanos step_time;
  double samples_per_second = 0;
  // The part of what the cluster's devices could do at their full speed, without communication and
  // waiting: 1 is the best.
  double efficiency = 0;
  bool feasible = false;
  DeviceId fullest;      // by peak / capacity
  Bytes peak, capacity;  // of the fullest device
  // US dollars for all machines; nothing where the cluster's file has no prices.
  std::optional<double> per_million_samples = {};
};
StepFigures figures_of(const Problem& problem, const Outcome& outcome);
DeviceId fullest_device(const Timeline& timeline);  // by peak / capacity; invalid: there is none

}  // namespace strato
