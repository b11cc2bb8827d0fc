#include "plugins/planners/autodist/replication.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "core/search/baselines.h"
#include "core/search/bound_constraints.h"
#include "plugins/planners/autodist/builders.h"
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

// Gradients in messages of 64 MB, large ones divided; of what is looked up just the rows, where
// they are few. Of the first `sharded` variables to have a gradient those of `least` bytes are kept
// in parts.
SyncPlan likely_plan(const SyncTask& task, std::size_t sharded, Bytes least,
                     const SamplerOptions& sampler) {
  constexpr Bytes kBucket{std::int64_t{64} << 20};
  SyncPlan plan = plain_plan(task);
  for (std::size_t v = 0; v < plan.size(); ++v) {
    const Variable& variable = task.variables[v];
    if (variable.has_few_rows())
      plan[v].parts[0].encoding = Encoding::SparseRows;
    else if (v < sharded && variable.bytes >= least && may_shard(variable, sampler))
      plan[v] = in_one(variable, {}, true);
    else if (must_divide(variable, sampler))
      plan[v] = in_parts(variable, variable.axes().front(), std::ssize(task.devices), {});
  }
  merge_adjacent(task, plan, kBucket, kAnyParts);
  return plan;
}

// Plans on this base with none, half or all variables kept in parts that have `least` bytes.
std::vector<Strategy> likely_strategies(const Problem& problem, const Strategy& base, Bytes least,
                                        const ReplicationOptions& options) {
  const SyncTask task(problem, base, options.rows, options.sampler.sharded > 0);
  const std::size_t all = options.sampler.sharded > 0 ? task.variables.size() : 0;
  std::vector<Strategy> likely = {base};
  for (const std::size_t sharded : std::set{std::size_t{0}, all / 2, all})
    likely.push_back(strategy_of(task, likely_plan(task, sharded, least, options.sampler)));
  return likely;
}

std::vector<Strategy> bases_of(const Problem& problem, std::span<const Strategy> known,
                               bool fewer) {
  std::vector<Strategy> bases = {data_parallel(problem)};
  const auto add = [&](Strategy strategy) {
    if (std::ranges::find(bases, strategy) == bases.end()) bases.push_back(std::move(strategy));
  };
  add(data_parallel_proportional(problem));
  for (const Strategy& strategy : known)
    if (auto base = base_of(complete(strategy, *problem.cluster))) add(*std::move(base));
  if (fewer)
    for (Strategy& strategy : on_fewer_devices(problem)) add(std::move(strategy));
  return bases;
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

Replication best_replication(const Problem& problem, std::span<const Strategy> known,
                             const ReplicationOptions& replication, const PlannerOptions& options) {
  constexpr Bytes kLarge{std::int64_t{8} << 20};
  const auto constraints = bind_constraints(options.constraints.get(), problem);
  const auto evaluator = make_simulating_evaluator(problem, options.threads);
  std::optional<Score> on_all, best;
  Replication result;
  const auto judge = [&](const Strategy& base, Bytes least) {
    std::vector<Strategy> likely = likely_strategies(problem, base, least, replication);
    std::vector<Strategy> kept = likely;
    if (constraints)
      for (Strategy& strategy : kept) strategy = constraints->repaired(strategy);
    const std::vector<Score> scores = evaluator->evaluate(kept);
    const auto score = std::ranges::min_element(
        scores, [](const Score& a, const Score& b) { return a.better_than(b); });
    if (!on_all) on_all = *score;  // the first base
    if (best && !score->better_than(*best)) return;
    best = *score;
    result.strategy = base;
    result.likely = std::move(likely[static_cast<std::size_t>(score - scores.begin())]);
  };
  for (const Strategy& base : bases_of(problem, known, replication.fewer)) judge(base, kLarge);
  judge(Strategy(result.strategy), replication.sampler.small);
  result.devices = result.strategy.groups.front()->devices.size();
  result.step_time = best->step_time;
  result.on_all = on_all->step_time;
  return result;
}

}  // namespace strato::autodist
