#include "plugins/planners/list/celeritas/planning.h"

#include <algorithm>
#include <utility>

#include "core/schedule/dag/dag_of.h"
#include "core/schedule/dag/transfer_times.h"
#include "core/search/evaluate/baselines.h"

namespace strato::celeritas {
namespace {

std::vector<NodeIndex> ordered(const Dag& dag, const Weights& weights, Order order) {
  switch (order) {
    case Order::Cpd:
      return cpd_topo(dag, weights);
    case Order::Dfs:
      return dfs_topo(dag);
    case Order::M:
      return m_topo(dag);
  }
  return {};
}

PlanningSteps::Ranking ranking_of(const Coarse& coarse) {
  PlanningSteps::Ranking ranking;
  ranking.name = "t-level + b-level";
  ranking.value = t_levels(coarse.dag, coarse.weights);
  const std::vector<Nanos> below = b_levels(coarse.dag, coarse.weights);
  for (std::size_t i = 0; i < below.size(); ++i) ranking.value[i] += below[i];
  ranking.order = coarse.order;
  ranking.critical_path = critical_path(coarse.dag, below);
  return ranking;
}

PlanningSteps::Fusion fusion_of(const Fine& fine, const Coarse& coarse) {
  PlanningSteps::Fusion fusion;
  for (NodeIndex node : coarse.fusion.sequence)
    fusion.sequence.emplace_back(static_cast<std::size_t>(node));
  fusion.cost = coarse.fusion.cost;
  fusion.before = coarse.fusion.before;
  fusion.breaks = coarse.fusion.breaks;
  fusion.ratio_before = communication_to_computing(fine.weights);
  fusion.ratio_after = communication_to_computing(coarse.weights);
  return fusion;
}

// A cluster goes by the op that takes longest in it.
std::string name_of(const Fine& fine, const std::vector<OpId>& ops) {
  const auto longest =
      std::ranges::max_element(ops, {}, [&](OpId op) { return fine.weights.node[op.index()]; });
  const std::string& name = fine.problem.graph->op(*longest).name;
  return ops.size() == 1 ? name : name + " +" + std::to_string(ops.size() - 1);
}

}  // namespace

Fine::Fine(const Problem& given)
    : problem(given),
      dag(dag_of(given)),
      transfers(dag, *given.cluster, *given.cost),
      weights(mean_weights(dag, *given.cluster, transfers)) {
  for (std::size_t d = 0; d < given.cluster->device_count(); ++d) by_number.emplace_back(d);
  fastest_first = by_number;
  const auto times = graph_times(given);
  std::ranges::stable_sort(fastest_first, {},
                           [&](DeviceId d) { return times[given.cluster->device(d).type]; });
}

Coarse coarsen(const Fine& fine, const Recipe& recipe) {
  const Problem& problem = fine.problem;
  Fusion fusion =
      fuse_colocated(fine.dag, fine.weights.edge, ordered(fine.dag, fine.weights, recipe.order),
                     fusion_limits(*problem.cluster, recipe.range, recipe.cluster_memory));
  Dag dag = contract(fine.dag, fusion.cluster_of);
  TransferTimes transfers(dag, *problem.cluster, *problem.cost);
  Weights weights = mean_weights(dag, *problem.cluster, transfers);
  std::vector<NodeIndex> order = ordered(dag, weights, recipe.order);
  return {std::move(fusion), std::move(dag), std::move(transfers), std::move(weights),
          std::move(order)};
}

Placed place(const Fine& fine, const Coarse& coarse, const Recipe& recipe,
             std::vector<PlanningSteps::Step>* steps) {
  PlacingOptions options;
  options.adjust = recipe.adjust;
  options.by_finish = recipe.by_finish;
  options.devices = recipe.fastest_first ? fine.fastest_first : fine.by_number;
  options.scheduling.insert = recipe.insert;
  options.scheduling.memory = recipe.memory;
  options.scheduling.transfers_are_tasks = recipe.transfers_are_tasks;
  return place(coarse.dag, coarse.transfers, *fine.problem.cluster, coarse.order, options, steps);
}

std::shared_ptr<const PlanningSteps> steps_of(const Fine& fine, const Coarse& coarse,
                                              const Recipe& recipe) {
  auto steps = std::make_shared<PlanningSteps>();
  steps->algorithm = recipe.adjust ? "Adjusting Placement (Celeritas 5.2, Algorithm 2)"
                                   : "Order-Place (Celeritas 5.2)";
  steps->nodes.resize(coarse.dag.size());
  for (std::size_t op = 0; op < fine.dag.size(); ++op)
    steps->nodes[static_cast<std::size_t>(coarse.fusion.cluster_of[op])].emplace_back(op);
  for (const std::vector<OpId>& ops : steps->nodes) steps->names.push_back(name_of(fine, ops));
  for (std::size_t i = 0; i < coarse.dag.size(); ++i) {
    const auto from = static_cast<NodeIndex>(i);
    for (const DagEdge& edge : coarse.dag.successors(from))
      steps->edges.push_back({from, edge.node, coarse.dag.bytes(edge.edge)});
  }
  steps->ranking = ranking_of(coarse);
  if (recipe.range > 1) steps->fusion = fusion_of(fine, coarse);
  place(fine, coarse, recipe, &steps->steps);
  return steps;
}

}  // namespace strato::celeritas
