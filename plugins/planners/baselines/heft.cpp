#include "plugins/planners/baselines/heft.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/base/at.h"
#include "core/schedule/dag/dag_of.h"
#include "core/schedule/dag/levels.h"

namespace strato::heft {
namespace {

using Why = PlanningSteps::Why;

// A node's rank is never below a successor's, and of equal ones the smaller node is first: a
// topological order.
std::vector<NodeIndex> by_rank(const std::vector<Nanos>& rank) {
  std::vector<NodeIndex> order(rank.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, std::ranges::greater(),
                           [&](NodeIndex node) { return rank[at(node)]; });
  return order;
}

std::pair<DeviceId, Why> choose(const Scheduling& scheduling, NodeIndex node, std::size_t devices) {
  if (const auto demanded = scheduling.demanded(node)) return {*demanded, Why::Colocated};
  DeviceId best;
  Nanos first;
  for (std::size_t d = 0; d < devices; ++d) {
    const DeviceId device(d);
    if (!scheduling.has_room(node, device)) continue;
    const Nanos finish = scheduling.earliest_finish(node, device);
    if (best.valid() && finish >= first) continue;
    best = device;
    first = finish;
  }
  if (best.valid()) return {best, Why::EarliestFinish};
  return {scheduling.emptiest(), Why::BestEffort};
}

}  // namespace

Schedule schedule(const Dag& dag, const TransferTimes& transfers, const Cluster& cluster,
                  double memory, PlanningSteps* steps) {
  const std::vector<Nanos> rank = b_levels(dag, mean_weights(dag, cluster, transfers));
  const std::vector<NodeIndex> order = by_rank(rank);
  if (steps != nullptr) steps->ranking = {"upward rank", rank, order, critical_path(dag, rank)};
  Scheduling scheduling(dag, transfers, cluster, {.memory = memory});
  for (const NodeIndex node : order) {
    const auto [device, why] = choose(scheduling, node, cluster.device_count());
    if (steps != nullptr) {
      auto candidates = candidates_of(scheduling, node, cluster);
      const PlanningSteps::Candidate chosen = candidates[device.index()];
      steps->steps.push_back(
          {node, device, chosen.start, chosen.finish, why, std::move(candidates), {}});
    }
    scheduling.place(node, device);
  }
  return std::move(scheduling).finished();
}

PlanResult plan(const PlanRequest& request, const ListPlannerSettings& given) {
  const Problem& problem = request.problem;
  const Dag dag = dag_of(problem);
  const TransferTimes transfers(dag, *problem.cluster, *problem.cost);
  ListPlannerSettings settings = given;
  settings.algorithm = "HEFT (Topcuoglu et al. 2002, section 4.1)";
  return plan_by_schedule(problem, dag, request.evaluator, request.options, request.observer,
                          request.stop, settings, [&](double memory, PlanningSteps* steps) {
                            return schedule(dag, transfers, *problem.cluster, memory, steps);
                          });
}

}  // namespace strato::heft
