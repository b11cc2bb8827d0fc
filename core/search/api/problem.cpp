#include "core/search/api/problem.h"

#include <utility>

namespace strato {

Digest Problem::digest() const {
  return Hasher()
      .text("problem")
      .digest(graph->digest())
      .digest(grouping->digest())
      .digest(cluster->digest())
      .digest(cost->digest())
      .finish();
}

namespace {

// The simplified graph is there only while the training graph is made of it.
Graph graph_of(const Graph& model, const ProblemOptions& options) {
  Graph forward = simplify(model, /*inference=*/!options.training);
  return options.training ? make_training_graph(forward, options.optimizer) : std::move(forward);
}

}  // namespace

Problem make_problem(const Graph& model, std::shared_ptr<const Cluster> cluster,
                     const ProblemOptions& options, std::vector<std::string>* warnings) {
  Problem problem;
  problem.graph = std::make_shared<const Graph>(graph_of(model, options));
  if (options.training && !problem.graph->is_training() && warnings != nullptr)
    warnings->push_back("nothing in the model can be trained: its forward pass is planned");
  problem.cluster = std::move(cluster);
  problem.cost = make_cost_model(problem.graph, problem.cluster, options.costs, warnings);
  const auto times = mean_op_times(*problem.graph, *problem.cluster, *problem.cost);
  problem.grouping =
      std::make_shared<const Grouping>(group_by_metis(*problem.graph, times, options.grouping));
  return problem;
}

Problem with_grouping(const Problem& problem, Grouping grouping) {
  Problem result = problem;
  result.grouping = std::make_shared<const Grouping>(std::move(grouping));
  return result;
}

Problem problem_for(const Problem& problem, const Strategy& strategy) {
  Problem result = problem;
  if (strategy.grouping != nullptr) result.grouping = strategy.grouping;
  return result;
}

}  // namespace strato
