// Model parallelism over all devices: METIS divides the graph of op groups into one part a device,
// minimising the bytes between parts, with compute time balanced in proportion to the devices'
// speed. Every group runs whole on the device of its part. The METIS baseline of GDP section 4 and
// Celeritas section 6, on op groups.
#include <algorithm>

#include "core/graph/group/partition.h"
#include "core/plugin/api/plugin.h"
#include "core/search/evaluate/baselines.h"
#include "core/search/tree/search_tree.h"

namespace {

using namespace strato;

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

class MetisPlanner final : public Planner {
 public:
  std::string name() const override { return "metis"; }
  bool is_baseline() const override { return true; }

  PlanResult plan(const Problem& problem, Evaluator& evaluator, const PlannerOptions&,
                  Observer& observer, std::stop_token, std::shared_ptr<const SearchTree>) override {
    PlanResult result;
    for (DeviceId device : place(problem))
      result.strategy.groups.emplace_back(decision_on_device(device));
    result.score = evaluator.evaluate(result.strategy);
    result.evaluations = 1;
    observer.on_improvement(result.strategy, result.score, {1, 1, 0, result.score});
    return result;
  }
};

std::unique_ptr<Planner> make(std::string_view) { return std::make_unique<MetisPlanner>(); }

}  // namespace

STRATOSCOPE_PLANNER(make)
