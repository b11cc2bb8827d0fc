#include "plugins/planners/search/mcmc/starts.h"

#include <algorithm>
#include <utility>

#include "core/base/random.h"
#include "core/schedule/dag/layers.h"
#include "core/search/evaluate/actions.h"
#include "core/search/evaluate/baselines.h"

namespace strato::mcmc {
namespace {

// A complete strategy in the problem's groups, said in finer ones.
Strategy in_groups(const Problem& problem, const std::shared_ptr<const Grouping>& groups,
                   Strategy strategy) {
  if (groups == problem.grouping || strategy.grouping != nullptr) return strategy;
  IdVector<GroupId, std::optional<Decision>> decisions;
  for (const OpGroup& group : groups->groups())
    decisions.push_back(strategy.groups[problem.grouping->group_of(group.ops.front())]);
  strategy.groups = std::move(decisions);
  strategy.grouping = groups;
  return strategy;
}

// Every group whole on the device that an expert gives most of its work to.
IdVector<GroupId, std::optional<Decision>> expert(const Problem& problem, const Grouping& groups) {
  const std::vector<DeviceId> device_of = expert_devices(problem);
  const std::vector<Nanos> times = mean_op_times(*problem.graph, *problem.cluster, *problem.cost);
  IdVector<GroupId, std::optional<Decision>> decisions;
  for (const OpGroup& group : groups.groups()) {
    std::vector<Nanos> work(problem.cluster->device_count());
    for (const OpId op : group.ops)
      work[device_of[op.index()].index()] += times[op.index()] + Nanos(1);
    const auto most = std::ranges::max_element(work) - work.begin();
    decisions.emplace_back(decision_on_device(DeviceId(most)));
  }
  return decisions;
}

// Those that look fastest for the whole graph, such as data parallelism on the fast devices alone.
std::vector<Decision> fastest(const Problem& problem, const std::vector<Decision>& actions) {
  constexpr std::size_t kMost = 12;
  const ActionEstimate estimate(problem);
  std::vector<std::pair<double, std::size_t>> ranked;
  for (std::size_t a = 0; a < actions.size(); ++a)
    ranked.emplace_back(estimate.graph_seconds(actions[a]), a);
  std::ranges::sort(ranked);
  ranked.resize(std::min(ranked.size(), kMost));
  std::vector<Decision> result;
  for (const auto& [seconds, action] : ranked) result.push_back(actions[action]);
  return result;
}

}  // namespace

std::shared_ptr<const Grouping> groups_by_layers(const Problem& problem) {
  const Layers layers = layers_of(*problem.graph);
  std::vector<std::pair<GroupId, std::int32_t>> pairs;
  for (std::size_t i = 0; i < layers.of_op.size(); ++i)
    pairs.emplace_back(problem.grouping->group_of(OpId(i)), layers.of_op[i]);
  std::vector<std::pair<GroupId, std::int32_t>> distinct = pairs;
  std::ranges::sort(distinct);
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  if (distinct.size() == problem.grouping->size()) return problem.grouping;
  std::vector<std::int32_t> group_of;
  for (const auto& pair : pairs)
    group_of.push_back(
        static_cast<std::int32_t>(std::ranges::lower_bound(distinct, pair) - distinct.begin()));
  const auto times = mean_op_times(*problem.graph, *problem.cluster, *problem.cost);
  return std::make_shared<const Grouping>(*problem.graph, group_of, times);
}

Starts make_starts(const Problem& problem, const std::shared_ptr<const Grouping>& groups,
                   const std::vector<Decision>& actions, const PlannerOptions& options,
                   std::int64_t random) {
  Starts starts;
  const auto add = [&](IdVector<GroupId, std::optional<Decision>> decisions) {
    Strategy& strategy = starts.strategies.emplace_back();
    strategy.groups = std::move(decisions);
    if (groups != problem.grouping) strategy.grouping = groups;
  };
  for (Baseline& baseline : simple_baselines(problem))
    starts.strategies.push_back(in_groups(problem, groups, std::move(baseline.strategy)));
  for (const Decision& decision : fastest(problem, actions))
    add(IdVector<GroupId, std::optional<Decision>>(groups->size(), decision));
  starts.expert = starts.strategies.size();
  add(expert(problem, *groups));
  Random source(options.seed ^ 0x2545f4914f6cdd1dULL);
  for (std::int64_t r = 0; r < random; ++r) {
    IdVector<GroupId, std::optional<Decision>> decisions;
    for (std::size_t g = 0; g < groups->size(); ++g)
      decisions.emplace_back(actions[source.below(actions.size())]);
    add(std::move(decisions));
  }
  for (const Strategy& seed : options.seeds)
    starts.strategies.push_back(in_groups(problem, groups, complete(seed, *problem.cluster)));
  return starts;
}

}  // namespace strato::mcmc
