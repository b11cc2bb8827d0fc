#include "views/models/regroup.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/graph/value/scopes.h"

namespace strato {
namespace {

std::vector<std::int32_t> numbers_of(const Regrouping& from) {
  std::vector<std::int32_t> numbers;
  for (std::size_t i = 0; i < from.shown.graph->op_count(); ++i)
    numbers.push_back(from.shown.grouping->group_of(OpId(i)).value());
  return numbers;
}

// Groups that stay as they are keep the names that a person gave them.
Grouping with_names_of(const Grouping& before, Grouping grouping) {
  for (std::size_t g = 0; g < before.size(); ++g) {
    if (!before.is_renamed(GroupId(g))) continue;
    const OpGroup& named = before.group(GroupId(g));
    const GroupId now = grouping.group_of(named.ops[0]);
    if (grouping.group(now).ops != named.ops) continue;
    try {
      grouping = grouping.renamed(now, named.name);
    } catch (const InputError&) {
      continue;  // a new group has that name of its own
    }
  }
  return grouping;
}

// The new groups' decisions are those of the groups that `decided_by` names by the new numbers.
Strategy with_groups(const Regrouping& from, const std::vector<std::int32_t>& numbers,
                     const std::vector<GroupId>& decided_by) {
  auto grouping = std::make_shared<const Grouping>(
      with_names_of(*from.shown.grouping, Grouping(*from.shown.graph, numbers, from.op_times)));
  Strategy result = from.strategy;
  result.groups.clear();
  for (const OpGroup& group : grouping->groups()) {
    const auto number = static_cast<std::size_t>(numbers[group.ops[0].index()]);
    const GroupId old = decided_by[number];
    result.groups.push_back(from.strategy.groups[old]);
  }
  const bool as_opened = *grouping == *from.opened.grouping;
  result.grouping = as_opened ? nullptr : std::move(grouping);
  return result;
}

std::vector<GroupId> themselves(const Regrouping& from) {
  std::vector<GroupId> groups;
  for (std::size_t g = 0; g < from.shown.grouping->size(); ++g) groups.emplace_back(g);
  return groups;
}

}  // namespace

OpId layer_of(const Graph& graph, OpId op) {
  const OpId forward = graph.op(op).forward;
  return forward.valid() ? forward : op;
}

Strategy merged(const Regrouping& from, std::span<const GroupId> groups) {
  if (groups.size() < 2) throw InputError("", "", "one group cannot be merged", "select several");
  std::vector<std::int32_t> numbers = numbers_of(from);
  const std::int32_t first = std::ranges::min(groups).value();
  for (const GroupId group : groups) {
    for (const OpId op : from.shown.grouping->group(group).ops) numbers[op.index()] = first;
  }
  return with_groups(from, numbers, themselves(from));
}

Strategy split_by_scopes(const Regrouping& from, GroupId group) {
  const OpGroup& whole = from.shown.grouping->group(group);
  const auto parts = split_by_scope(*from.shown.graph, whole.ops, 1, kMostScopeGroups);
  if (parts.size() < 2)
    throw InputError("", whole.name, "a single op cannot be split", "select a larger group");
  std::vector<std::int32_t> numbers = numbers_of(from);
  std::vector<GroupId> decided_by = themselves(from);
  for (const ScopePart& part : parts) {
    for (const OpId op : part.ops)
      numbers[op.index()] = static_cast<std::int32_t>(decided_by.size());
    decided_by.push_back(group);
  }
  return with_groups(from, numbers, decided_by);
}

Strategy split_at(const Regrouping& from, OpId op) {
  const Graph& graph = *from.shown.graph;
  const GroupId group = from.shown.grouping->group_of(op);
  const OpGroup& whole = from.shown.grouping->group(group);
  const OpId border = layer_of(graph, op);
  std::vector<std::int32_t> numbers = numbers_of(from);
  std::vector<GroupId> decided_by = themselves(from);
  std::size_t moved = 0;
  for (const OpId id : whole.ops) {
    if (layer_of(graph, id) < border) continue;
    numbers[id.index()] = static_cast<std::int32_t>(decided_by.size());
    ++moved;
  }
  if (moved == 0 || moved == whole.ops.size())
    throw InputError("", graph.op(op).name, "no layer of its group comes before it",
                     "select a later op");
  decided_by.push_back(group);
  return with_groups(from, numbers, decided_by);
}

Strategy with_ops_apart(const Regrouping& from, std::span<const OpId> ops) {
  std::vector<std::int32_t> numbers = numbers_of(from);
  std::vector<GroupId> decided_by = themselves(from);
  IdVector<GroupId, std::int32_t> apart(decided_by.size(), -1);
  for (const OpId op : ops) {
    const GroupId group = from.shown.grouping->group_of(op);
    if (apart[group] < 0) {
      apart[group] = static_cast<std::int32_t>(decided_by.size());
      decided_by.push_back(group);
    }
    numbers[op.index()] = apart[group];
  }
  return with_groups(from, numbers, decided_by);
}

Strategy renamed(const Regrouping& from, GroupId group, std::string_view name) {
  auto grouping = std::make_shared<const Grouping>(from.shown.grouping->renamed(group, name));
  Strategy result = from.strategy;
  result.grouping = *grouping == *from.opened.grouping ? nullptr : std::move(grouping);
  return result;
}

}  // namespace strato
