// What a collective works on. An AllReduce task is of one tensor, or of a bucket of gradients that
// were fused into one message (see strategy.h, bucket): nothing in the task says which, because the
// buffers that it reads do.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "core/cost/value/cost_model.h"
#include "core/program/value/program.h"

namespace strato {

// Nothing: a task of this kind is no collective.
std::optional<Collective> collective_of(TaskKind kind);

// Members of a collective (its communication streams), ascending; of other tasks: none.
std::vector<DeviceId> members_of(const Program& program, TaskId task);
// With those that an outline (Program::is_outline) has left out: they are known by their links.
std::vector<DeviceId> all_members_of(const Program& program, TaskId task);
// The devices that have a task, by rank, ascending.
std::vector<DeviceId> working_devices(const Program& program);

// The tensors of a communication task: the one that it is named after, or those of a bucket in the
// order in which they were made.
std::vector<TensorId> tensors_of(const Program& program, TaskId task);

// The way of a transfer, or of a copy between a device and its host.
Path path_of(const Program& program, const Task& task);

// A ring whose members stand in an order that somebody chose (AutoDist 2.2: reduction sequence);
// cost models know the cheapest order only, for members in ascending order. AllReduce: 2(n-1)
// steps, in each of which every member sends an n-th of the tensor to the next one; AllGather
// (bytes: of the result): n-1 steps. A step takes as long as its longest transfer, where a link
// that several of them cross shares its bandwidth. `sequence`: at least two members.
CollectiveCost ordered_ring(const Cluster& cluster, const CostModel& cost, Collective kind,
                            std::span<const DeviceId> sequence, Bytes bytes);

}  // namespace strato
