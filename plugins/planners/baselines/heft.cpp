#include "plugins/planners/baselines/heft.h"

#include <utility>

#include "core/schedule/dag/levels.h"

namespace strato::heft {
namespace {

using Why = PlanningSteps::Why;

std::pair<DeviceId, Why> choose(const Scheduling& scheduling, NodeIndex node) {
  if (const auto demanded = scheduling.demanded(node)) return {*demanded, Why::Colocated};
  DeviceId best;
  Nanos first;
  for (std::size_t d = 0; d < scheduling.device_count(); ++d) {
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
  const std::vector<NodeIndex> order = by_level(rank);
  if (steps != nullptr) steps->ranking = {"upward rank", rank, order, critical_path(dag, rank)};
  Scheduling scheduling(dag, transfers, cluster, {.memory = memory});
  for (const NodeIndex node : order) {
    const auto [device, why] = choose(scheduling, node);
    place_and_record(scheduling, node, device, why, steps != nullptr ? &steps->steps : nullptr);
  }
  return std::move(scheduling).finished();
}

PlanResult plan(const PlanRequest& request, const ListPlannerSettings& settings) {
  const Problem& problem = request.problem;
  const Dag dag = dag_of(problem);
  const TransferTimes transfers(dag, *problem.cluster, *problem.cost);
  return plan_by_schedule(request, dag, settings, "HEFT (Topcuoglu et al. 2002, section 4.1)",
                          [&](double memory, PlanningSteps* steps) {
                            return schedule(dag, transfers, *problem.cluster, memory, steps);
                          });
}

}  // namespace strato::heft
