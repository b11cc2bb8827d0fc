#include "core/search/evaluate/baselines.h"

#include <algorithm>
#include <cmath>

#include "core/graph/axes/split_axes.h"

namespace strato {
namespace {

std::vector<DeviceId> all_devices(const Cluster& cluster) {
  std::vector<DeviceId> devices;
  for (std::size_t d = 0; d < cluster.device_count(); ++d) devices.emplace_back(d);
  return devices;
}

Strategy everywhere(const Problem& problem, const Decision& decision) {
  Strategy strategy;
  strategy.groups.assign(problem.grouping->size(), decision);
  return strategy;
}

}  // namespace

IdVector<GpuTypeId, Nanos> graph_times(const Problem& problem) {
  const Graph& graph = *problem.graph;
  IdVector<GpuTypeId, Nanos> times(problem.cluster->gpu_types().size());
  for (std::size_t type = 0; type < times.size(); ++type)
    for (std::size_t op = 0; op < graph.op_count(); ++op)
      times[GpuTypeId(type)] += problem.cost->compute(OpId(op), GpuTypeId(type), graph.batch());
  return times;
}

std::vector<DeviceShare> proportional_shares(const Cluster& cluster,
                                             const IdVector<GpuTypeId, Nanos>& times,
                                             std::span<const DeviceId> devices) {
  Nanos fastest = Nanos::max();
  for (DeviceId device : devices) fastest = std::min(fastest, times[cluster.device(device).type]);
  std::vector<DeviceShare> shares;
  for (DeviceId device : devices) {
    const Nanos time = times[cluster.device(device).type];
    const double relative = time.value > 0 ? fastest / time : 1.0;
    const auto weight = std::max(1, static_cast<std::int32_t>(std::lround(100 * relative)));
    shares.push_back({device, weight});
  }
  divide_by_common(shares);
  return shares;
}

Strategy data_parallel(const Problem& problem, Mode mode) {
  Decision decision{mode, {}};
  for (DeviceId device : all_devices(*problem.cluster)) decision.devices.push_back({device, 1});
  return everywhere(problem, decision);
}

Strategy data_parallel_proportional(const Problem& problem) {
  const Cluster& cluster = *problem.cluster;
  return everywhere(problem,
                    {Mode::ReplicateAllReduce,
                     proportional_shares(cluster, graph_times(problem), all_devices(cluster))});
}

Strategy on_one_device(const Problem& problem, DeviceId device) {
  return everywhere(problem, decision_on_device(device));
}

Decision on_rows(Decision decision, std::int32_t columns, std::int32_t context) {
  const auto width = static_cast<std::size_t>(columns) * static_cast<std::size_t>(context);
  if (width == 1 || decision.mode != Mode::ReplicateAllReduce ||
      decision.devices.size() % width != 0)
    return decision;
  decision.roles.tensor = columns;
  decision.roles.context = context;
  for (std::size_t row = 0; row < decision.devices.size(); row += width) {
    const auto members = std::span(decision.devices).subspan(row, width);
    const std::int32_t least = std::ranges::min_element(members, {}, &DeviceShare::weight)->weight;
    for (DeviceShare& share : members) share.weight = least;
  }
  return decision;
}

std::vector<DeviceShare> replicas_of(const Graph& graph, const Decision& replicated) {
  const std::vector<std::int64_t> samples = apportion(graph.batch(), replicated.devices);
  std::vector<DeviceShare> replicas;
  for (std::size_t i = 0; i < samples.size(); ++i)
    if (samples[i] > 0) replicas.push_back(replicated.devices[i]);
  return replicas;
}

std::optional<OpSplit> sharded_update(const Graph& graph, OpId update,
                                      std::span<const DeviceShare> replicas) {
  if (replicas.size() < 2 || graph.op(update).inputs.empty()) return std::nullopt;
  const Shape& shape = graph.tensor(graph.op(update).inputs.front()).shape;
  for (const SplitAxis& split : split_axes(graph, update)) {
    const std::int64_t extent = shape[static_cast<std::size_t>(split.axis)];
    if (std::ranges::min(apportion(extent, replicas)) > 0)
      return OpSplit{update, split.axis, {replicas.begin(), replicas.end()}};
  }
  return std::nullopt;
}

std::vector<Baseline> simple_baselines(const Problem& problem) {
  std::vector<Baseline> result;
  result.push_back({"dp-allreduce", data_parallel(problem)});
  result.push_back({"dp-allreduce-proportional", data_parallel_proportional(problem)});
  // Each server's exchanges are its own: with more devices than this there are millions.
  constexpr std::size_t kMostServers = 1024;
  const Cluster& cluster = *problem.cluster;
  if (cluster.device_count() <= kMostServers)
    result.push_back({"dp-ps", data_parallel(problem, Mode::ReplicatePs)});
  std::vector<bool> seen(cluster.gpu_types().size(), false);
  for (std::size_t d = 0; d < cluster.device_count(); ++d) {
    const GpuTypeId type = cluster.device(DeviceId(d)).type;
    if (seen[type.index()]) continue;
    seen[type.index()] = true;
    result.push_back({"single-device", on_one_device(problem, DeviceId(d))});
  }
  return result;
}

}  // namespace strato
