// What a framework's kernels hand on without writing it to memory (CostModel::is_passed_on() and
// adds_up()).
#pragma once

#include "core/program/value/program.h"
#include "core/program/value/tables.h"

namespace strato {

// Marks the buffers of which this is so: a kernel makes it, and kernels beside it alone read it, or
// the sum over micro-batches. Programs that run keep them all the same.
void mark_passed_on(Program& program, const Tables& tables);

}  // namespace strato
