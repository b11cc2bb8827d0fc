#include "core/cost/value/cost_model.h"

#include <array>

namespace strato {

std::string_view name_of(Collective kind) {
  constexpr std::array<std::string_view, 6> names = {"all-reduce", "all-gather",     "broadcast",
                                                     "reduce",     "reduce-scatter", "all-to-all"};
  return names[static_cast<std::size_t>(kind)];
}

std::vector<Nanos> mean_op_times(const Graph& graph, const Cluster& cluster,
                                 const CostModel& cost) {
  std::vector<std::int64_t> devices(cluster.gpu_types().size());
  for (const Device& device : cluster.devices()) ++devices[device.type.index()];
  std::vector<Nanos> times(graph.op_count());
  for (std::size_t op = 0; op < times.size(); ++op) {
    for (std::size_t type = 0; type < devices.size(); ++type)
      times[op] += cost.compute(OpId(op), GpuTypeId(type), graph.batch()) * devices[type];
    times[op] = times[op] / static_cast<std::int64_t>(cluster.device_count());
  }
  return times;
}

std::string_view name_of(CollectiveAlgorithm algorithm) {
  constexpr std::array<std::string_view, 4> names = {"ring", "tree", "hierarchical", "pairwise"};
  return names[static_cast<std::size_t>(algorithm)];
}

}  // namespace strato
