#include "core/strategy/file/named_strategy.h"

#include <algorithm>

#include "core/strategy/file/variable_names.h"
#include "core/strategy/value/variable_check.h"

namespace strato {
namespace {

bool is_permutation(std::span<const std::int32_t> priorities) {
  std::vector<bool> seen(priorities.size());
  for (const std::int32_t priority : priorities) {
    if (priority < 0 || static_cast<std::size_t>(priority) >= seen.size()) return false;
    if (seen[static_cast<std::size_t>(priority)]) return false;
    seen[static_cast<std::size_t>(priority)] = true;
  }
  return true;
}

// A list where the priorities are the places in one, else those that are not 0.
NamedOrder name_order(std::span<const std::int32_t> priorities, const Graph& graph) {
  NamedOrder order;
  if (is_permutation(priorities)) {
    order.ops.resize(priorities.size());
    for (std::size_t i = 0; i < priorities.size(); ++i)
      order.ops[static_cast<std::size_t>(priorities[i])] = {graph.op(OpId(i)).name, priorities[i]};
    order.others = static_cast<std::int32_t>(priorities.size());
  } else {
    for (std::size_t i = 0; i < priorities.size(); ++i)
      if (priorities[i] != 0) order.ops.emplace_back(graph.op(OpId(i)).name, priorities[i]);
  }
  return order;
}

}  // namespace

bool NamedStrategy::names_ops() const {
  return std::any_of(groups.begin(), groups.end(),
                     [](const auto& group) { return !group.ops.empty(); });
}

NamedStrategy name_strategy(const Strategy& strategy, const Graph& graph, const Grouping& grouping,
                            const Cluster& cluster) {
  validate(strategy, grouping, cluster);
  validate_variables(strategy, graph);
  NamedStrategy named;
  for (std::size_t i = 0; i < grouping.size(); ++i) {
    const OpGroup& group = grouping.group(GroupId(i));
    NamedGroup entry;
    entry.name = group.name;
    entry.renamed = grouping.is_renamed(GroupId(i));
    for (const OpId op : group.ops) entry.ops.push_back(graph.op(op).name);
    if (const std::optional<Decision>& decision = strategy.groups[GroupId(i)]) {
      entry.mode = decision->mode;
      for (const DeviceShare& share : decision->devices) {
        entry.devices.emplace_back(cluster.device(share.device).name, share.weight);
      }
    }
    named.groups.push_back(std::move(entry));
  }
  named.bucket = strategy.bucket;
  for (const OpId op : strategy.duplicated) named.duplicated.push_back(graph.op(op).name);
  for (const OpSplit& split : strategy.splits) {
    NamedSplit& entry = named.splits.emplace_back();
    entry.op = graph.op(split.op).name;
    entry.axis = split.axis;
    for (const DeviceShare& part : split.parts)
      entry.devices.emplace_back(cluster.device(part.device).name, part.weight);
  }
  named.variables = name_variables(strategy.variables, graph, cluster);
  if (!strategy.priorities.empty()) named.order = name_order(strategy.priorities, graph);
  return named;
}

}  // namespace strato
