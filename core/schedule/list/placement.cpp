#include "core/schedule/list/placement.h"

#include <algorithm>
#include <numeric>

#include "core/base/error.h"

namespace strato {
namespace {

std::vector<Nanos> op_times(const Problem& problem) {
  return mean_op_times(*problem.graph, *problem.cluster, *problem.cost);
}

}  // namespace

Strategy strategy_by_ops(const Problem& problem, std::span<const std::int32_t> choice_of,
                         std::span<const Decision> choices) {
  const std::size_t ops = problem.graph->op_count();
  CHECK(choice_of.size() == ops, "one choice for each op");
  const auto count = static_cast<std::int64_t>(choices.size());
  std::vector<std::int64_t> part(ops);  // of its group, by what it is told
  for (std::size_t i = 0; i < ops; ++i)
    part[i] = problem.grouping->group_of(OpId(i)).value() * count + choice_of[i];
  std::vector<std::int64_t> parts = part;
  std::ranges::sort(parts);
  parts.erase(std::unique(parts.begin(), parts.end()), parts.end());

  Strategy strategy;
  const bool divided = parts.size() > problem.grouping->size();
  if (divided) {
    std::vector<std::int32_t> group_of(ops);
    for (std::size_t i = 0; i < ops; ++i)
      group_of[i] =
          static_cast<std::int32_t>(std::ranges::lower_bound(parts, part[i]) - parts.begin());
    strategy.grouping =
        std::make_shared<const Grouping>(*problem.graph, group_of, op_times(problem));
  }
  const Grouping& grouping = divided ? *strategy.grouping : *problem.grouping;
  for (const OpGroup& group : grouping.groups())
    strategy.groups.emplace_back(
        choices[static_cast<std::size_t>(choice_of[group.ops.front().index()])]);
  return strategy;
}

Strategy strategy_of(const Problem& problem, const Schedule& schedule,
                     std::span<const NodeIndex> node_of, bool with_order) {
  const std::size_t ops = problem.graph->op_count();
  const auto node = [&](std::size_t op) {
    return node_of.empty() ? op : static_cast<std::size_t>(node_of[op]);
  };
  std::vector<Decision> choices;
  for (std::size_t d = 0; d < problem.cluster->device_count(); ++d)
    choices.push_back(decision_on_device(DeviceId(d)));
  std::vector<std::int32_t> choice_of(ops);
  for (std::size_t i = 0; i < ops; ++i) choice_of[i] = schedule.device[node(i)].value();
  Strategy strategy = strategy_by_ops(problem, choice_of, choices);
  if (!with_order) return strategy;
  std::vector<std::size_t> by_start(ops);
  std::iota(by_start.begin(), by_start.end(), 0);
  std::ranges::stable_sort(by_start, {}, [&](std::size_t op) { return schedule.start[node(op)]; });
  strategy.priorities.resize(ops);
  for (std::size_t place = 0; place < ops; ++place)
    strategy.priorities[by_start[place]] = static_cast<std::int32_t>(place);
  return strategy;
}

}  // namespace strato
