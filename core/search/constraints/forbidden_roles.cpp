#include "core/search/constraints/forbidden_roles.h"

#include <algorithm>

#include "core/base/disjoint_sets.h"

namespace strato {
namespace {

bool is_update(const Graph& graph, OpId op) { return graph.op(op).phase == Phase::Update; }

// Splits of updates are sharding, all others are tensor parallelism.
bool is_split_of(Role role, const OpSplit& split, const Graph& graph) {
  if (role == Role::Sharding) return is_update(graph, split.op);
  return role == Role::Tensor && !is_update(graph, split.op);
}

// The ops of which the strategy says so one by one.
std::span<const OpId> ops_in(Role role, const Strategy& strategy) {
  if (role == Role::Recompute) return strategy.recomputed;
  if (role == Role::Offload) return strategy.offloaded;
  return {};
}

// By device, the least device of its stage.
std::vector<std::int32_t> stages_of(const Strategy& strategy, const Graph& graph,
                                    const Grouping& grouping, std::size_t devices) {
  DisjointSets stages(devices);
  const auto join = [&](std::span<const DeviceShare> shares) {
    for (const DeviceShare& share : shares)
      stages.join(shares.front().device.value(), share.device.value());
  };
  for (std::size_t g = 0; g < grouping.size(); ++g) {
    const Decision& decision = *strategy.groups[GroupId(g)];
    const bool passes = std::ranges::any_of(grouping.group(GroupId(g)).ops,
                                            [&](OpId op) { return !is_update(graph, op); });
    if (passes && decision.mode != Mode::ModelParallel) join(decision.devices);
  }
  for (const OpSplit& split : strategy.splits)
    if (!is_update(graph, split.op)) join(split.parts);
  std::vector<std::int32_t> result;
  for (std::size_t d = 0; d < devices; ++d)
    result.push_back(stages.root(static_cast<std::int32_t>(d)));
  return result;
}

std::size_t devices_in(const Strategy& strategy) {
  std::size_t devices = 0;
  const auto count = [&](std::span<const DeviceShare> shares) {
    for (const DeviceShare& share : shares) devices = std::max(devices, share.device.index() + 1);
  };
  for (const auto& decision : strategy.groups) count(decision->devices);
  for (const OpSplit& split : strategy.splits) count(split.parts);
  return devices;
}

GroupId in_another_stage(const Strategy& strategy, const Graph& graph, const Grouping& grouping,
                         std::span<const OpId> ops) {
  if (strategy.micro_batches.count == 1) return {};
  const auto stages = stages_of(strategy, graph, grouping, devices_in(strategy));
  std::int32_t first = -1;
  for (const OpId op : ops) {
    if (is_update(graph, op)) continue;
    const GroupId group = grouping.group_of(op);
    for (const DeviceShare& share : strategy.groups[group]->devices) {
      const std::int32_t stage = stages[share.device.index()];
      if (first < 0) first = stage;
      if (stage != first) return group;
    }
  }
  return {};
}

}  // namespace

GroupId group_with(Role role, const Strategy& strategy, const Graph& graph,
                   const Grouping& grouping, std::span<const OpId> ops,
                   std::span<const GroupId> groups) {
  if (role == Role::Pipeline) return in_another_stage(strategy, graph, grouping, ops);
  const auto has = [&](OpId op) { return std::ranges::binary_search(ops, op); };
  for (const OpId op : ops_in(role, strategy))
    if (has(op)) return grouping.group_of(op);
  if (role == Role::Tensor)
    for (const GroupId group : groups)
      if (columns_of(*strategy.groups[group]) > 1) return group;
  if (role == Role::Expert)
    for (const GroupId group : groups)
      if (expert_rows_of(*strategy.groups[group]) > 1) return group;
  if (role == Role::Context)
    for (const GroupId group : groups)
      if (context_rows_of(*strategy.groups[group]) > 1) return group;
  if (role == Role::Sharding)
    for (const GroupId group : groups)
      if (state_rows_of(*strategy.groups[group]) > 1) return group;
  for (const OpSplit& split : strategy.splits)
    if (is_split_of(role, split, graph) && has(split.op)) return grouping.group_of(split.op);
  return {};
}

void take_role(Role role, Strategy& strategy, const Graph& graph, const Grouping& grouping,
               std::span<const OpId> ops, std::span<const GroupId> groups) {
  if (!group_with(role, strategy, graph, grouping, ops, groups).valid()) return;
  const auto has = [&](OpId op) { return std::ranges::binary_search(ops, op); };
  if (role == Role::Pipeline) strategy.micro_batches = {};
  if (role == Role::Recompute) std::erase_if(strategy.recomputed, has);
  if (role == Role::Offload) std::erase_if(strategy.offloaded, has);
  std::erase_if(strategy.splits, [&](const OpSplit& split) {
    return is_split_of(role, split, graph) && has(split.op);
  });
}

}  // namespace strato
