#include "core/search/run/usual_planner.h"

#include <algorithm>

#include "core/search/evaluate/baselines.h"
#include "core/search/evaluate/outcome.h"

namespace strato {

std::string_view usual_planner(const Problem& problem) {
  constexpr std::size_t kMany = 64;
  constexpr std::string_view kAlike = "meshes", kByGroup = "mcts";
  const Cluster& cluster = *problem.cluster;
  if (cluster.device_count() > kMany) return kAlike;
  const GpuTypeId first = cluster.device(DeviceId(0)).type;
  const bool are_equal = std::ranges::all_of(
      cluster.devices(), [&](const Device& device) { return device.type == first; });
  if (cluster.device_count() == 1 || !are_equal) return kByGroup;
  const bool fits = simulate_outline(problem, data_parallel(problem)).score.feasible;
  return fits ? kByGroup : kAlike;
}

}  // namespace strato
