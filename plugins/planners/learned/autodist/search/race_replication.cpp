#include <algorithm>
#include <set>
#include <tuple>

#include "core/search/evaluate/baselines.h"
#include "plugins/planners/learned/autodist/search/race.h"

namespace strato::autodist {
namespace {

double speed_of(const Cluster& cluster, DeviceId device) {
  return *std::ranges::max_element(cluster.gpu(device).peak_flops);
}

// 2, 3, 4, 6, 8, 12, ...: those below `end`.
std::set<std::size_t> steps_below(std::size_t end) {
  std::set<std::size_t> steps;
  for (std::size_t step = 2; step < end; step *= 2) {
    steps.insert(step);
    if (step + step / 2 < end) steps.insert(step + step / 2);
  }
  return steps;
}

// The numbers of devices, which are in order of their speed, that are tried.
std::set<std::size_t> counts_of(const Cluster& cluster, std::span<const DeviceShare> devices) {
  std::set<std::size_t> counts = steps_below(devices.size());
  const std::set<std::size_t> steps = steps_below(devices.size());
  std::size_t machines = 1;
  for (std::size_t d = 1; d < devices.size(); ++d) {
    const DeviceId last = devices[d - 1].device, next = devices[d].device;
    const bool slower = speed_of(cluster, next) < speed_of(cluster, last);
    const bool away = cluster.device(next).machine != cluster.device(last).machine;
    if (d > 1 && (slower || (away && (machines == 1 || steps.contains(machines)))))
      counts.insert(d);
    machines += away;
  }
  return counts;
}

// Tables of which few rows are looked up are kept in parts only among the first, whose values are
// gathered while nothing else is sent.
SyncPlan likely_plan(const SyncTask& task, std::size_t sharded, const SamplerOptions& sampler) {
  constexpr Bytes kBucket{std::int64_t{64} << 20}, kLarge{std::int64_t{8} << 20};
  SyncPlan plan = plain_plan(task);
  for (std::size_t v = 0; v < plan.size(); ++v) {
    const Variable& variable = task.variables[v];
    const bool whole = variable.has_few_rows() && v >= plan.size() / 2;
    if (v < sharded && !whole && variable.bytes >= kLarge && may_shard(variable, sampler))
      plan[v] = in_one(variable, {}, true);
    else if (variable.has_few_rows())
      plan[v].parts[0].encoding = Encoding::SparseRows;
    else if (must_divide(variable, sampler))
      plan[v] = in_parts(variable, variable.axes().front(), std::ssize(task.devices), {});
  }
  merge_adjacent(task, plan, kBucket, kAnyParts);
  return plan;
}

// Data parallelism of it alone, which a search may begin from; nothing: it is something else.
std::optional<Strategy> base_of(const Strategy& strategy) {
  if (strategy.grouping || strategy.groups.empty()) return std::nullopt;
  const auto& first = *strategy.groups.begin();
  const bool replicated =
      first && first->mode == Mode::ReplicateAllReduce && first->devices.size() > 1;
  if (!replicated) return std::nullopt;
  const auto is_first = [&](const auto& decision) { return decision == first; };
  if (!std::ranges::all_of(strategy.groups, is_first)) return std::nullopt;
  Strategy base;
  base.groups = strategy.groups;
  return base;
}

bool is_sampled(const SyncPart& part) {
  return part.sequence.empty() &&
         (part.encoding == Encoding::None || part.encoding == Encoding::SparseRows);
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

std::vector<Strategy> replications_of(const Problem& problem, std::span<const Strategy> known,
                                      bool fewer) {
  std::vector<Strategy> all = {data_parallel(problem)};
  const auto add = [&](Strategy strategy) {
    if (std::ranges::find(all, strategy) == all.end()) all.push_back(std::move(strategy));
  };
  add(data_parallel_proportional(problem));
  for (const Strategy& strategy : known)
    if (auto base = base_of(strategy)) add(*std::move(base));
  if (fewer)
    for (Strategy& strategy : on_fewer_devices(problem)) add(std::move(strategy));
  return all;
}

std::optional<SyncPlan> plan_of(const SyncTask& task, const Strategy& strategy) {
  const std::optional<Strategy> base = base_of(strategy);
  if (!base || base->groups != task.base.groups) return std::nullopt;
  SyncPlan plan = plain_plan(task);
  for (const VariableSync& variable : strategy.variables) {
    const auto at = std::ranges::find(plan, variable.update, &NodeConfig::update);
    if (at == plan.end() || !std::ranges::all_of(variable.parts, is_sampled)) return std::nullopt;
    *at = {variable};
  }
  for (const OpSplit& split : strategy.splits) {
    const auto at = std::ranges::find(task.variables, split.op, &Variable::update);
    if (at == task.variables.end() || at->sharded != split) return std::nullopt;
    plan[static_cast<std::size_t>(at - task.variables.begin())] = in_one(*at, {}, true);
  }
  return plan;
}

std::vector<SyncPlan> likely_plans(const SyncTask& task, const SamplerOptions& sampler) {
  const std::size_t all = sampler.sharded > 0 ? task.variables.size() : 0;
  std::vector<SyncPlan> plans;
  for (const std::size_t sharded : std::set{std::size_t{0}, all / 2, all})
    plans.push_back(likely_plan(task, sharded, sampler));
  return plans;
}

}  // namespace strato::autodist
