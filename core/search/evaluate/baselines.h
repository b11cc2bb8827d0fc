// The simple strategies that everything is measured against.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/search/api/problem.h"
#include "core/strategy/value/strategy.h"

namespace strato {

// Data parallel on all devices, equal shares (DP-NCCL): the baseline of every speed-up.
Strategy data_parallel(const Problem& problem, Mode mode = Mode::ReplicateAllReduce);
// Shares in proportion to each device's speed on the whole graph (DP-NCCL-P).
Strategy data_parallel_proportional(const Problem& problem);
// Everything on one device.
Strategy on_one_device(const Problem& problem, DeviceId device);

// Time of the whole graph, one op after another, on one device of each GPU type.
IdVector<GpuTypeId, Nanos> graph_times(const Problem& problem);
// Shares of these devices in proportion to their speed on the whole graph; weights 1 to 100, in
// lowest terms.
std::vector<DeviceShare> proportional_shares(const Cluster& cluster,
                                             const IdVector<GpuTypeId, Nanos>& times,
                                             std::span<const DeviceId> devices);

// The decision with its devices in rows of so many columns (MeshRoles::tensor), of which so many
// have positions among them (MeshRoles::context), each as fast as the slowest device of these; as
// it is where it does not all-reduce gradients, or has no whole rows.
Decision on_rows(Decision decision, std::int32_t columns, std::int32_t context = 1);

// The devices that have samples of a replicated decision: only they make gradients.
std::vector<DeviceShare> replicas_of(const Graph& graph, const Decision& replicated);
// An update of which each of these replicas does its part, and keeps its part of the parameter and
// of the optimizer's state (ZeRO): along the first axis on which every one finds a place. Nothing:
// there is no such axis, or there is one replica only.
std::optional<OpSplit> sharded_update(const Graph& graph, OpId update,
                                      std::span<const DeviceShare> replicas);

struct Baseline {
  std::string name;  // of the planner that makes it
  Strategy strategy;
};
// dp-allreduce first, dp-allreduce-proportional, dp-ps, and single-device for every GPU type.
std::vector<Baseline> simple_baselines(const Problem& problem);

}  // namespace strato
