// Model parallelism over all devices: METIS divides the graph of op groups into one part a device,
// minimising the bytes between parts, with compute time balanced in proportion to the devices'
// speed. Every group runs whole on the device of its part. The METIS baseline of GDP section 4 and
// Celeritas section 6, on op groups.
#include <metis.h>

#include <algorithm>
#include <map>

#include "core/base/error.h"
#include "core/plugin/plugin.h"
#include "core/search/baselines.h"

namespace {

using namespace strato;

// The group graph as METIS wants it: undirected, weights in ranges that its 32-bit sums can hold.
struct GroupGraph {
  std::vector<idx_t> begin = {0}, neighbour, edge_weight, vertex_weight;
};

std::int64_t scale_of(std::int64_t sum) { return std::max<std::int64_t>(1, sum / 1'000'000); }

GroupGraph group_graph(const Grouping& grouping) {
  std::int64_t time = 0, bytes = 0;
  for (const OpGroup& group : grouping.groups()) time += group.compute_time.value;
  for (const Grouping::Edge& edge : grouping.edges()) bytes += edge.bytes.value;
  std::vector<std::map<idx_t, std::int64_t>> between(grouping.size());
  for (const Grouping::Edge& edge : grouping.edges()) {
    between[edge.from.index()][edge.to.value()] += edge.bytes.value;
    between[edge.to.index()][edge.from.value()] += edge.bytes.value;
  }
  GroupGraph graph;
  for (std::size_t g = 0; g < grouping.size(); ++g) {
    for (const auto& [other, weight] : between[g]) {
      graph.neighbour.push_back(other);
      graph.edge_weight.push_back(static_cast<idx_t>(1 + weight / scale_of(bytes)));
    }
    graph.begin.push_back(static_cast<idx_t>(graph.neighbour.size()));
    graph.vertex_weight.push_back(
        static_cast<idx_t>(1 + grouping.group(GroupId(g)).compute_time.value / scale_of(time)));
  }
  return graph;
}

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

std::vector<real_t> shares_by_speed(const Problem& problem, const IdVector<GpuTypeId, Nanos>& times,
                                    const std::vector<DeviceId>& devices) {
  std::vector<real_t> shares;
  real_t sum = 0;
  for (DeviceId device : devices) {
    const Nanos time = times[problem.cluster->device(device).type];
    shares.push_back(1e9F / static_cast<real_t>(std::max<std::int64_t>(time.value, 1)));
    sum += shares.back();
  }
  for (real_t& share : shares) share /= sum;
  return shares;
}

// The device of every group.
std::vector<DeviceId> partition(const Problem& problem) {
  const auto times = graph_times(problem);
  const std::vector<DeviceId> devices = devices_for(problem, times);
  if (devices.size() == 1) return std::vector<DeviceId>(problem.grouping->size(), devices.front());
  GroupGraph graph = group_graph(*problem.grouping);
  auto vertices = static_cast<idx_t>(problem.grouping->size());
  auto parts = static_cast<idx_t>(devices.size());
  std::vector<idx_t> part(problem.grouping->size(), 0);
  idx_t constraints = 1, cut = 0;
  std::vector<real_t> shares = shares_by_speed(problem, times, devices);
  idx_t options[METIS_NOPTIONS];
  METIS_SetDefaultOptions(options);
  options[METIS_OPTION_SEED] = 1;
  const int status =
      METIS_PartGraphRecursive(&vertices, &constraints, graph.begin.data(), graph.neighbour.data(),
                               graph.vertex_weight.data(), nullptr, graph.edge_weight.data(),
                               &parts, shares.data(), nullptr, options, &cut, part.data());
  CHECK(status == METIS_OK, "METIS divides any graph");
  std::vector<DeviceId> result;
  for (idx_t p : part) result.push_back(devices[static_cast<std::size_t>(p)]);
  return result;
}

class MetisPlanner final : public Planner {
 public:
  std::string name() const override { return "metis"; }
  bool is_baseline() const override { return true; }

  PlanResult plan(const Problem& problem, Evaluator& evaluator, const PlannerOptions&,
                  Observer& observer, std::stop_token, std::shared_ptr<const SearchTree>) override {
    PlanResult result;
    for (DeviceId device : partition(problem))
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
