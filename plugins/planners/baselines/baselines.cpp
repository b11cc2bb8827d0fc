// The strategies that others are measured against.
//   dp-allreduce               equal shares on all devices, gradients all-reduced (DP-NCCL of TAG
//                              5.2)
//   dp-allreduce-proportional  shares in proportion to each device's speed (DP-NCCL-P)
//   dp-ps                      equal shares, gradients summed at parameter servers
//   single-device              everything on the fastest device that holds it (TAG 5, GDP 4)
//   expert                     a human expert's placement by layer blocks (GDP 4.1, Baechi 5):
//                              every layer, with its gradients and updates, is whole on one device
//   metis                      op groups divided between all devices, see below
//   horovod, sharded-dp, heft  see their headers
#include "core/search/evaluate/baselines.h"

#include <algorithm>
#include <utility>

#include "core/base/at.h"
#include "core/graph/group/metis_grouping.h"
#include "core/plugin/api/plugin.h"
#include "core/schedule/dag/layers.h"
#include "core/schedule/list/placement.h"
#include "plugins/planners/baselines/data_parallel.h"
#include "plugins/planners/baselines/heft.h"

namespace strato {
namespace {

// The devices to use: all, or where there are fewer groups than devices the fastest; ascending.
std::vector<DeviceId> devices_for(const Problem& problem, const IdVector<GpuTypeId, Nanos>& times) {
  const Cluster& cluster = *problem.cluster;
  std::vector<DeviceId> devices;
  for (std::size_t d = 0; d < cluster.device_count(); ++d) devices.emplace_back(d);
  std::ranges::stable_sort(devices, {}, [&](DeviceId d) { return times[cluster.device(d).type]; });
  devices.resize(std::min(devices.size(), problem.grouping->size()));
  std::ranges::sort(devices);
  return devices;
}

std::vector<double> shares_by_speed(const Problem& problem, const IdVector<GpuTypeId, Nanos>& times,
                                    const std::vector<DeviceId>& devices) {
  std::vector<double> shares;
  for (DeviceId device : devices) {
    const Nanos time = times[problem.cluster->device(device).type];
    shares.push_back(1e9 / static_cast<double>(std::max<std::int64_t>(time.value, 1)));
  }
  return shares;
}

// Model parallelism over all devices: METIS divides the graph of op groups into one part a device,
// minimising the bytes between parts, with compute time balanced in proportion to the devices'
// speed. Every group runs whole on the device of its part. The METIS baseline of GDP section 4 and
// Celeritas section 6, on op groups.
Strategy metis(const Problem& problem) {
  constexpr double balance = 1.05;
  const auto times = graph_times(problem);
  const std::vector<DeviceId> devices = devices_for(problem, times);
  std::vector<std::int64_t> weights;
  for (const OpGroup& group : problem.grouping->groups())
    weights.push_back(std::max<std::int64_t>(1, group.compute_time.value));
  std::vector<WeightedEdge> edges;
  for (const Grouping::Edge& edge : problem.grouping->edges())
    edges.push_back(
        {edge.from.value(), edge.to.value(), std::max<std::int64_t>(1, edge.bytes.value)});
  const std::vector<double> shares = shares_by_speed(problem, times, devices);
  Strategy strategy;
  for (const std::int32_t part : partition_by_shares(weights, edges, shares, balance))
    strategy.groups.emplace_back(decision_on_device(devices[at(part)]));
  return strategy;
}

PlanResult expert(const PlanRequest& request, const NoSettings&) {
  const Problem& problem = request.problem;
  std::vector<Decision> choices;
  for (std::size_t d = 0; d < problem.cluster->device_count(); ++d)
    choices.push_back(decision_on_device(DeviceId(d)));
  std::vector<std::int32_t> choice_of;
  for (const DeviceId device : expert_devices(problem)) choice_of.push_back(device.value());
  PlanResult result = best_of(request, {strategy_by_ops(problem, choice_of, choices)});
  result.facts.push_back(
      {"layers", is_recurrent(problem) ? "recurrent: round robin" : "in blocks of equal work"});
  return result;
}

// Devices of one GPU type are equal here, so one of each type is tried.
PlanResult single_device(const PlanRequest& request, const NoSettings&) {
  PlanResult result;
  for (const Baseline& baseline : simple_baselines(request.problem)) {
    if (baseline.name != "single-device") continue;
    const Score score = request.evaluator.evaluate(baseline.strategy);
    const bool first = result.evaluations++ == 0;
    if (!first && !score.better_than(result.score)) continue;
    result.strategy = baseline.strategy;
    result.score = score;
    request.observer.on_improvement(result.strategy, score,
                                    {result.evaluations, result.evaluations, 0, score});
  }
  return result;
}

// A planner that knows its strategy without asking what others are worth.
template <class MakeStrategy>
std::unique_ptr<Planner> fixed(std::string_view name, MakeStrategy make) {
  const auto plan = [make](const PlanRequest& request, const NoSettings&) {
    return best_of(request, {make(request.problem)});
  };
  return std::make_unique<PlannerFunction<NoSettings>>(name, plan, true);
}

std::unique_ptr<Planner> make(std::string_view name) {
  if (name == "dp-allreduce")
    return fixed(name, [](auto& problem) { return data_parallel(problem); });
  if (name == "dp-allreduce-proportional") return fixed(name, data_parallel_proportional);
  if (name == "dp-ps")
    return fixed(name, [](auto& problem) { return data_parallel(problem, Mode::ReplicatePs); });
  if (name == "metis") return fixed(name, metis);
  if (name == "expert") return make_planner(name, expert, true);
  if (name == "single-device") return make_planner(name, single_device, true);
  if (name == "horovod") return make_planner(name, horovod, true);
  if (name == "sharded-dp") return make_planner(name, sharded_dp, true);
  if (name == "heft") return make_planner(name, heft::plan, true);
  return nullptr;
}

}  // namespace
}  // namespace strato

STRATOSCOPE_PLANNER(strato::make)
