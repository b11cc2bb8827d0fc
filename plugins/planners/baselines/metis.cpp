#include "plugins/planners/baselines/metis.h"

#include <algorithm>

#include "core/graph/group/metis_grouping.h"
#include "core/search/evaluate/baselines.h"

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

// The device of every group.
std::vector<DeviceId> place(const Problem& problem) {
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
  std::vector<DeviceId> result;
  for (std::int32_t part : partition_by_shares(weights, edges, shares, balance))
    result.push_back(devices[static_cast<std::size_t>(part)]);
  return result;
}

}  // namespace

Strategy partition_groups(const Problem& problem) {
  Strategy strategy;
  for (const DeviceId device : place(problem))
    strategy.groups.emplace_back(decision_on_device(device));
  return strategy;
}

}  // namespace strato
