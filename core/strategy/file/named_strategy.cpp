#include "core/strategy/file/named_strategy.h"

#include <algorithm>

#include "core/strategy/value/variable_check.h"

namespace strato {
namespace {

bool is_permutation(std::span<const std::int32_t> priorities) {
  std::vector<std::int32_t> sorted(priorities.begin(), priorities.end());
  std::ranges::sort(sorted);
  std::int32_t next = 0;
  return std::ranges::all_of(sorted, [&](std::int32_t priority) { return priority == next++; });
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

template <class Id, class Named>
std::vector<std::string> names_of(std::span<const Id> ids, const IdVector<Id, Named>& all) {
  std::vector<std::string> names;
  for (const Id id : ids) names.push_back(all[id].name);
  return names;
}

NamedShares name_shares(std::span<const DeviceShare> shares, const Cluster& cluster) {
  NamedShares named;
  for (const DeviceShare& share : shares)
    named.emplace_back(cluster.device(share.device).name, share.weight);
  return named;
}

std::vector<NamedVariable> name_variables(std::span<const VariableSync> variables,
                                          const Graph& graph, const Cluster& cluster) {
  const auto names = [&](const std::vector<DeviceId>& devices) {
    return names_of(std::span(devices), cluster.devices());
  };
  std::vector<NamedVariable> named;
  for (const VariableSync& variable : variables) {
    const std::string& parameter = graph.tensor(parameter_of(graph, variable.update)).name;
    NamedVariable& entry = named.emplace_back(
        NamedVariable{parameter, variable.axis, {}, variable.staleness, variable.partition});
    for (const SyncPart& part : variable.parts)
      entry.parts.push_back({part.synchroniser, part.encoding,
                             part.server.valid() ? cluster.device(part.server).name : "",
                             names(part.stations), part.merge_group, names(part.sequence)});
  }
  return named;
}

}  // namespace

bool NamedStrategy::names_ops() const {
  return std::ranges::any_of(groups, [](const NamedGroup& group) { return !group.ops.empty(); });
}

NamedStrategy name_strategy(const Strategy& strategy, const Graph& graph, const Grouping& grouping,
                            const Cluster& cluster) {
  validate(strategy, grouping, cluster);
  validate_variables(strategy, graph);
  NamedStrategy named;
  for (std::size_t i = 0; i < grouping.size(); ++i) {
    const OpGroup& group = grouping.group(GroupId(i));
    NamedGroup& entry = named.groups.emplace_back();
    entry.name = group.name;
    entry.renamed = grouping.is_renamed(GroupId(i));
    entry.ops = names_of(std::span(group.ops), graph.ops());
    if (const std::optional<Decision>& decision = strategy.groups[GroupId(i)]) {
      entry.mode = decision->mode;
      entry.devices = name_shares(decision->devices, cluster);
      entry.roles = decision->roles;
    }
  }
  named.bucket = strategy.bucket;
  named.micro_batches = strategy.micro_batches;
  named.duplicated = names_of(std::span(strategy.duplicated), graph.ops());
  named.recomputed = names_of(std::span(strategy.recomputed), graph.ops());
  named.offloaded = names_of(std::span(strategy.offloaded), graph.ops());
  for (const OpSplit& split : strategy.splits)
    named.splits.push_back(
        {graph.op(split.op).name, split.axis, name_shares(split.parts, cluster)});
  named.variables = name_variables(strategy.variables, graph, cluster);
  if (!strategy.priorities.empty()) named.order = name_order(strategy.priorities, graph);
  return named;
}

}  // namespace strato
