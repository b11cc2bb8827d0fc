// What a collective works on. An AllReduce task is of one tensor, or of a bucket of gradients that
// were fused into one message (see strategy.h, bucket): nothing in the task says which, because the
// buffers that it reads do.
#pragma once

#include <optional>
#include <vector>

#include "core/cost/value/cost_model.h"
#include "core/program/value/program.h"

namespace strato {

// Nothing: a task of this kind is no collective.
std::optional<Collective> collective_of(TaskKind kind);

// Members of a collective (its communication streams), ascending; of other tasks: none.
std::vector<DeviceId> members_of(const Program& program, TaskId task);

// The tensors of a communication task: the one that it is named after, or those of a bucket in the
// order in which they were made.
std::vector<TensorId> tensors_of(const Program& program, TaskId task);

// How many gradients one AllReduce sums up: 1 unless it is of a bucket.
std::size_t gradient_count(const Program& program, TaskId task);

}  // namespace strato
