#include "core/search/run/usual_planner.h"

#include <algorithm>

#include "core/search/evaluate/baselines.h"
#include "core/search/evaluate/outcome.h"

namespace strato {
namespace {

constexpr std::size_t kMany = 64;

bool are_equal(const Cluster& cluster) {
  return std::ranges::all_of(cluster.devices(), [&](const Device& device) {
    return device.type == cluster.device(DeviceId(0)).type;
  });
}

}  // namespace

std::string_view usual_planner(const Problem& problem, bool data_parallelism_fits) {
  const std::size_t devices = problem.cluster->device_count();
  const bool needs_meshes = devices > 1 && !data_parallelism_fits && are_equal(*problem.cluster);
  return devices > kMany || needs_meshes ? "meshes" : "mcts";
}

std::string_view usual_planner(const Problem& problem) {
  if (problem.cluster->device_count() > kMany) return usual_planner(problem, true);
  return usual_planner(problem, simulate_outline(problem, data_parallel(problem)).score.feasible);
}

}  // namespace strato
