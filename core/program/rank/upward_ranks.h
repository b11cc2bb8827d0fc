// Upward ranks: how long it takes from the start of a task to the end of the step at the least, on
// the longest chain of tasks that follow from it, transfers and collectives included (HEFT; FastT,
// section 5.1, orders ops by them). A larger rank is more urgent.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/units.h"
#include "core/program/value/program.h"

namespace strato {

// Nanoseconds, by task: its own duration and the largest rank of those that depend on it.
IdVector<TaskId, Nanos> upward_ranks(const Program& program);

// An execution order by rank for Strategy::priorities: by op, 0 for the largest rank, one more for
// each op after it; equal ranks in the order of op ids. An op's rank is the largest of its tasks';
// an op without tasks (a view) has that of the readers of its outputs.
std::vector<std::int32_t> upward_rank_priorities(const Program& program);

}  // namespace strato
