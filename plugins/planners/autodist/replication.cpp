#include "plugins/planners/autodist/replication.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "core/search/baselines.h"
#include "core/search/bound_constraints.h"
#include "plugins/planners/autodist/known_starts.h"

namespace strato::autodist {
namespace {

double speed_of(const Cluster& cluster, DeviceId device) {
  return *std::ranges::max_element(cluster.gpu(device).peak_flops);
}

// How many of the devices, which are in order of their speed, are tried.
std::set<std::size_t> counts_of(const Cluster& cluster, std::span<const DeviceShare> devices) {
  std::set<std::size_t> counts;
  for (std::size_t count = 2; count < devices.size(); count *= 2) {
    counts.insert(count);
    if (count + count / 2 < devices.size()) counts.insert(count + count / 2);
  }
  for (std::size_t d = 2; d < devices.size(); ++d)
    if (speed_of(cluster, devices[d].device) < speed_of(cluster, devices[d - 1].device))
      counts.insert(d);
  return counts;
}

}  // namespace

std::vector<Strategy> on_fewer_devices(const Problem& problem) {
  const Cluster& cluster = *problem.cluster;
  const Strategy all = data_parallel(problem);
  std::vector<DeviceShare> devices = all.groups.front()->devices;
  std::ranges::stable_sort(devices, {}, [&](const DeviceShare& share) {
    return std::tuple(-speed_of(cluster, share.device), cluster.device(share.device).machine);
  });
  std::vector<Strategy> fewer;
  for (const std::size_t count : counts_of(cluster, devices)) {
    Decision decision = *all.groups.front();
    decision.devices.assign(devices.begin(), devices.begin() + static_cast<std::ptrdiff_t>(count));
    std::ranges::sort(decision.devices);
    fewer.push_back(all);
    fewer.back().groups.assign(all.groups.size(), decision);
  }
  return fewer;
}

Replication best_replication(const Problem& problem, std::span<const Strategy> known, bool fewer,
                             const PlannerOptions& options) {
  std::vector<Strategy> candidates = {data_parallel(problem)};
  const auto add = [&](Strategy strategy) {
    if (std::ranges::find(candidates, strategy) == candidates.end())
      candidates.push_back(std::move(strategy));
  };
  add(data_parallel_proportional(problem));
  for (const Strategy& strategy : known)
    if (auto base = base_of(complete(strategy, *problem.cluster))) add(*std::move(base));
  if (fewer)
    for (Strategy& strategy : on_fewer_devices(problem)) add(std::move(strategy));
  const auto constraints = bind_constraints(options.constraints.get(), problem);
  std::vector<Strategy> kept = candidates;
  if (constraints)
    for (Strategy& strategy : kept) strategy = constraints->repaired(strategy);
  const auto evaluator = make_simulating_evaluator(problem, options.threads);
  const std::vector<Score> scores = evaluator->evaluate(kept);
  std::size_t best = 0;
  for (std::size_t c = 1; c < scores.size(); ++c)
    if (scores[c].better_than(scores[best])) best = c;
  const std::size_t devices = candidates[best].groups.front()->devices.size();
  return {std::move(candidates[best]), devices, scores[best].step_time, scores[0].step_time};
}

}  // namespace strato::autodist
