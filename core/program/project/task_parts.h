// The parts of tensors that a task is about: what it says itself, and what its op reads for it.
// Pure; safe from any thread.
#pragma once

#include <vector>

#include "core/program/project/program_task.h"

namespace strato {

// The parameter is updated: every device that holds it holds all of its samples' effect.
bool is_trained(const Graph& graph, TensorId tensor);

// These samples of a tensor, in its kind of the batch: all of it, some samples, or a partial sum.
Part samples_part(const Graph& graph, TensorId tensor, std::int32_t begin, std::int32_t end);
// This range of an axis, which may be all of it.
Part slice_part(const ProgramTask& at, TensorId tensor, int axis, std::int32_t begin,
                std::int32_t end);

// The range of a part along an axis (kBatchAxis: in samples), also where it has all of it.
AxisRange range_along(const Graph& graph, TensorId tensor, const Part& part, int axis);

// The part that the task says of a tensor like its own.
Part stated_part(const ProgramTask& at, TensorId tensor);
// The part of its op's index space that a task computes.
Part computed_part(const ProgramTask& at);
// By input of the task's op: the part that is read for that.
std::vector<Part> input_parts(const ProgramTask& at);

// Throws InvariantError unless the ranges, in some order, follow each other from end to end.
void expect_tiles(const ProgramTask& at, TensorId tensor, std::vector<AxisRange> ranges,
                  const AxisRange& whole);

}  // namespace strato
