// Random small problems and strategies: training graphs of all kinds of ops, clusters, costs with
// many ties.
#pragma once

#include <memory>
#include <optional>

#include "core/base/random.h"
#include "core/cost/value/cost_model.h"
#include "core/graph/group/grouping.h"
#include "core/strategy/value/strategy.h"

namespace strato {

struct RandomProblem {
  std::shared_ptr<const Graph> graph;
  std::shared_ptr<const Grouping> grouping;
  std::shared_ptr<const Cluster> cluster;
  std::shared_ptr<const CostModel> cost;
};

RandomProblem random_problem(Random& random);
// Often none, else any number of ops.
std::vector<OpId> random_duplicated(const RandomProblem& problem, Random& random);
// Any number of ops of the forward pass.
std::vector<OpId> random_recomputed(const Graph& graph, Random& random);
// Any number of ops of the forward pass, none of these, and of updates.
std::vector<OpId> random_offloaded(const Graph& graph, const std::vector<OpId>& recomputed,
                                   Random& random);
// Every mode, uneven shares, groups left undecided; some with buckets, duplicated ops, priorities.
Strategy random_strategy(const RandomProblem& problem, Random& random);
// Most groups alike: AllReduce with equal shares on most devices.
Strategy random_data_parallel(const RandomProblem& problem, Random& random);

// Most groups on one mesh of rows and columns, some on another one, perhaps with experts divided;
// not, where there is one device.
Strategy with_meshes(const RandomProblem& problem, Strategy strategy, Random& random);

std::int32_t random_divisor(std::int32_t of, Random& random);
// Nearly all groups on one mesh whose rows, two or more, have experts among them, two or four rows
// together; nothing where there are too few devices, or samples.
std::optional<Strategy> with_experts(const RandomProblem& problem, Strategy strategy,
                                     Random& random);

// A number that divides the batch, and a schedule; nothing: there is none but 1.
std::optional<MicroBatches> random_micro_batches(const Graph& graph, Random& random);
// Can the model be computed in so many?
bool goes_with(const RandomProblem& problem, const MicroBatches& micro_batches);

}  // namespace strato
