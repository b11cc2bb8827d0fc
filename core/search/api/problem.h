// A problem: what a planner is asked to solve. Immutable and shared; safe from any thread.
#pragma once

#include <memory>

#include "core/cluster/value/cluster.h"
#include "core/cost/model/measured_cost_model.h"
#include "core/cost/value/cost_model.h"
#include "core/graph/group/grouping.h"
#include "core/graph/group/metis_grouping.h"
#include "core/graph/train/training_graph.h"
#include "core/graph/value/graph.h"
#include "core/strategy/value/strategy.h"

namespace strato {

struct Problem {
  std::shared_ptr<const Graph> graph;  // the training graph
  std::shared_ptr<const Grouping> grouping;
  std::shared_ptr<const Cluster> cluster;
  std::shared_ptr<const CostModel> cost;

  Digest digest() const;
};

struct ProblemOptions {
  bool training = true;  // false: plan the forward graph as it is
  Optimizer optimizer = Optimizer::Adam;
  MetisOptions grouping;
  CostSources costs;
};

// Simplifies `model` (as imported), makes the training graph, costs and groups it. `warnings`: see
// make_cost_model; also where nothing in the model can be trained (quantised ones).
Problem make_problem(const Graph& model, std::shared_ptr<const Cluster> cluster,
                     const ProblemOptions& options, std::vector<std::string>* warnings = nullptr);
// The same with a grouping that is already known (a plan's, a person's).
Problem with_grouping(const Problem& problem, Grouping grouping);
// The problem in the groups of this strategy: where a strategy is shown, lowered or changed.
Problem problem_for(const Problem& problem, const Strategy& strategy);

}  // namespace strato
