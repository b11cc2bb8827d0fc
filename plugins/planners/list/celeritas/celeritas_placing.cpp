#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/base/quantity_text.h"
#include "core/schedule/list/placement.h"
#include "core/search/evaluate/baselines.h"
#include "plugins/planners/list/celeritas/celeritas.h"

namespace strato::celeritas {
namespace {

using Why = PlanningSteps::Why;

struct Choice {
  DeviceId device;
  Why why;
  std::string remark;
};

class Placer {
 public:
  Placer(const Dag& dag, const TransferTimes& transfers, const Cluster& cluster,
         const PlacingOptions& options, std::vector<PlanningSteps::Step>* steps)
      : dag_(dag),
        transfers_(transfers),
        options_(options),
        steps_(steps),
        scheduling_(dag, transfers, cluster, options.scheduling),
        current_(options.devices.front()) {}

  void place(NodeIndex node) {
    Choice choice = choose(node);
    place_and_record(scheduling_, node, choice.device, choice.why, steps_,
                     std::move(choice.remark));
    moves_ += choice.why == Why::WorthMoving ? 1 : 0;
    // Order-Place goes on from where it was when a co-location group called a node elsewhere.
    if (options_.adjust || choice.why == Why::NextInOrder) current_ = choice.device;
  }

  Placed finished() && { return {std::move(scheduling_).finished(), moves_}; }

 private:
  Choice choose(NodeIndex node) const {
    if (const auto device = scheduling_.demanded(node)) return {*device, Why::Colocated, {}};
    return options_.adjust ? adjusted(node) : next_in_order(node);
  }

  Choice next_in_order(NodeIndex node) const {
    const auto found =
        std::find_if(std::ranges::find(options_.devices, current_), options_.devices.end(),
                     [&](DeviceId device) { return scheduling_.has_room(node, device); });
    if (found != options_.devices.end()) return {*found, Why::NextInOrder, {}};
    return {scheduling_.emptiest(), Why::BestEffort, {}};
  }

  Nanos earliest(NodeIndex node, DeviceId device) const {
    return options_.by_finish ? scheduling_.earliest_finish(node, device)
                              : scheduling_.earliest_start(node, device);
  }

  // Equation 8.
  Nanos back_cost(NodeIndex node, DeviceId from) const {
    Nanos cost;
    for (const DagEdge& edge : dag_.successors(node))
      cost = std::max(cost, transfers_.time(edge.edge, from, current_));
    return cost;
  }

  Choice adjusted(NodeIndex node) const {
    DeviceId best;
    Nanos best_time = Nanos::max();
    for (DeviceId device : options_.devices) {
      if (!scheduling_.has_room(node, device)) continue;
      const Nanos time = earliest(node, device);
      // The node stays on equal terms.
      if (time < best_time || (time == best_time && device == current_)) {
        best_time = time;
        best = device;
      }
    }
    if (!best.valid()) return {scheduling_.emptiest(), Why::BestEffort, {}};
    if (best == current_) return {best, Why::WithPrevious, {}};
    if (!scheduling_.has_room(node, current_))
      return {best, options_.by_finish ? Why::EarliestFinish : Why::EarliestStart, {}};
    const Nanos waiting = earliest(node, current_) - best_time;
    const Nanos back = back_cost(node, best);
    std::string remark;
    if (steps_ != nullptr)
      remark =
          fmt::format("waiting costs {}, sending back {}", time_text(waiting), time_text(back));
    if (waiting > back) return {best, Why::WorthMoving, std::move(remark)};
    return {current_, Why::WithPrevious, std::move(remark)};
  }

  const Dag& dag_;
  const TransferTimes& transfers_;
  const PlacingOptions& options_;
  std::vector<PlanningSteps::Step>* steps_;
  Scheduling scheduling_;
  DeviceId current_;  // of the node before; of Order-Place: that is being filled
  std::int64_t moves_ = 0;
};

std::vector<NodeIndex> ordered(const WeighedDag& of, Order order) {
  switch (order) {
    case Order::Cpd:
      return cpd_topo(of.dag, of.weights);
    case Order::Dfs:
      return dfs_topo(of.dag);
    case Order::M:
      return m_topo(of.dag);
  }
  return {};
}

PlanningSteps::Ranking ranking_of(const Coarse& coarse) {
  std::vector<Nanos> levels = t_levels(coarse.dag, coarse.weights);
  const std::vector<Nanos> below = b_levels(coarse.dag, coarse.weights);
  for (std::size_t i = 0; i < below.size(); ++i) levels[i] += below[i];
  return {"t-level + b-level", std::move(levels), coarse.order, critical_path(coarse.dag, below)};
}

PlanningSteps::Fusion fusion_of(const Fine& fine, const Coarse& coarse) {
  const Fusion& fusion = coarse.fusion;
  std::vector<OpId> sequence;
  for (NodeIndex node : fusion.sequence) sequence.emplace_back(at(node));
  return {std::move(sequence),
          fusion.cost,
          fusion.before,
          fusion.breaks,
          communication_to_computing(fine.weights),
          communication_to_computing(coarse.weights)};
}

// A cluster goes by the op that takes longest in it.
std::string name_of(const Fine& fine, const std::vector<OpId>& ops) {
  const auto longest =
      std::ranges::max_element(ops, {}, [&](OpId op) { return fine.weights.node[op.index()]; });
  const std::string& name = fine.problem.graph->op(*longest).name;
  return ops.size() == 1 ? name : fmt::format("{} +{}", name, ops.size() - 1);
}

}  // namespace

Placed place(const Dag& dag, const TransferTimes& transfers, const Cluster& cluster,
             std::span<const NodeIndex> order, const PlacingOptions& options,
             std::vector<PlanningSteps::Step>* steps) {
  Placer placer(dag, transfers, cluster, options, steps);
  for (NodeIndex node : order) placer.place(node);
  return std::move(placer).finished();
}

Fine::Fine(const Problem& given)
    : WeighedDag(dag_of(given), *given.cluster, *given.cost), problem(given) {
  for (std::size_t d = 0; d < given.cluster->device_count(); ++d) by_number.emplace_back(d);
  fastest_first = by_number;
  const auto times = graph_times(given);
  std::ranges::stable_sort(fastest_first, {},
                           [&](DeviceId d) { return times[given.cluster->device(d).type]; });
}

Coarse coarsen(const Fine& fine, const Recipe& recipe) {
  const Problem& problem = fine.problem;
  Fusion fusion =
      fuse_colocated(fine.dag, fine.weights.edge, ordered(fine, recipe.order),
                     fusion_limits(*problem.cluster, recipe.range, recipe.cluster_memory));
  WeighedDag dag(contract(fine.dag, fusion.cluster_of), *problem.cluster, *problem.cost);
  std::vector<NodeIndex> order = ordered(dag, recipe.order);
  return {std::move(dag), std::move(fusion), std::move(order)};
}

Placed place(const Fine& fine, const Coarse& coarse, const Recipe& recipe,
             std::vector<PlanningSteps::Step>* steps) {
  PlacingOptions options = recipe.placing;
  options.devices = recipe.fastest_first ? fine.fastest_first : fine.by_number;
  return place(coarse.dag, coarse.transfers, *fine.problem.cluster, coarse.order, options, steps);
}

std::shared_ptr<const PlanningSteps> steps_of(const Fine& fine, const Coarse& coarse,
                                              const Recipe& recipe) {
  auto steps = std::make_shared<PlanningSteps>();
  steps->algorithm = recipe.placing.adjust ? "Adjusting Placement (Celeritas 5.2, Algorithm 2)"
                                           : "Order-Place (Celeritas 5.2)";
  steps->nodes.resize(coarse.dag.size());
  for (std::size_t op = 0; op < fine.dag.size(); ++op)
    steps->nodes[at(coarse.fusion.cluster_of[op])].emplace_back(op);
  for (const std::vector<OpId>& ops : steps->nodes) steps->names.push_back(name_of(fine, ops));
  for (NodeIndex from = 0; at(from) < coarse.dag.size(); ++from)
    for (const DagEdge& edge : coarse.dag.successors(from))
      steps->edges.push_back({from, edge.node, coarse.dag.bytes(edge.edge)});
  steps->ranking = ranking_of(coarse);
  if (recipe.range > 1) steps->fusion = fusion_of(fine, coarse);
  place(fine, coarse, recipe, &steps->steps);
  return steps;
}

}  // namespace strato::celeritas
