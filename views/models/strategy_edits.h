// What a person's edits mean, as pure functions: strategy in, strategy out. Groups without a
// decision, and edits that would leave a group without a device, stay as they are.
#pragma once

#include <QString>
#include <span>
#include <vector>

#include "core/search/api/problem.h"
#include "core/strategy/value/strategy.h"

namespace strato {

// How much of one device group a decision uses.
struct DeviceGroupShare {
  int devices = 0;          // of this group that are used
  int of = 0;               // that the group has
  std::int32_t weight = 0;  // sum of their weights
  double share =
      0;  // of the batch (replicated), of the ops (model parallel: even), or 1 (duplicated)
};
QString short_mode_words(const Decision& decision);  // "PS"; "TP 4, ZeRO 3" of rows
// As describe() has it, but unequal shares as parts of the batch: "AllReduce on v100 70 %, p100 30
// %".
QString describe_shares(const Decision& decision, const Cluster& cluster);
DeviceGroupShare share_on(const Decision& decision, const Cluster& cluster, DeviceGroupId group);

// The device groups that the decision touches, ascending.
std::vector<DeviceGroupId> device_groups_of(const Decision& decision, const Cluster& cluster);

Strategy with_device_group(const Strategy& strategy, std::span<const GroupId> groups,
                           const Cluster& cluster, DeviceGroupId device_group, bool used);
// On all devices of this group, and on no other.
Strategy with_only_device_group(const Strategy& strategy, std::span<const GroupId> groups,
                                const Cluster& cluster, DeviceGroupId device_group);
// On all of these devices, and on no other; without devices nothing changes.
Strategy with_only_devices(const Strategy& strategy, std::span<const GroupId> groups,
                           std::span<const DeviceId> devices);
Strategy with_device(const Strategy& strategy, std::span<const GroupId> groups, DeviceId device,
                     bool used);
Strategy with_mode(const Strategy& strategy, std::span<const GroupId> groups, Mode mode);
// The numbers of MeshRoles, of which the least one (1, of the last two 0) says nothing.
enum class MeshRole : std::uint8_t { Tensor, Expert, Context, States, StateRows };
std::int32_t number_of(const Decision& decision, MeshRole role);  // as it means something
// Groups in which it means nothing stay without.
Strategy with_role(const Strategy& strategy, std::span<const GroupId> groups, MeshRole role,
                   std::int32_t number);
// The numbers that all of these groups can have, ascending: the least, and what divides the devices
// of each, or the rows of them, and experts.
std::vector<std::int32_t> possible_numbers(const Strategy& strategy,
                                           std::span<const GroupId> groups, const Graph& graph,
                                           MeshRole role);
// The same weight for every device of the device group.
Strategy with_weight(const Strategy& strategy, std::span<const GroupId> groups,
                     const Cluster& cluster, DeviceGroupId device_group, std::int32_t weight);
Strategy with_equal_shares(const Strategy& strategy, std::span<const GroupId> groups);
// Weights in proportion to the speed of each device on the group's own ops, the fastest gets 10.
Strategy with_proportional_shares(const Strategy& strategy, std::span<const GroupId> groups,
                                  const Problem& problem);
Strategy with_decision(const Strategy& strategy, std::span<const GroupId> groups,
                       const Decision& decision);

// Those of `to` that hold an op of `groups`, which are of `from`; ascending.
std::vector<GroupId> groups_with_ops_of(std::span<const GroupId> groups, const Grouping& from,
                                        const Grouping& to);

// "conv4" or "3 groups", for the label of an edit.
QString names_of(std::span<const GroupId> groups, const Grouping& grouping);

}  // namespace strato
