// Finds when buffers are taken and released in a timeline, for uses of memory after a simulation.
#pragma once

#include "core/sim/timeline/timeline.h"

namespace strato {

struct Lifetime {
  TaskId taken_by;     // its writer, at that task's start
  TaskId released_by;  // its last reader in time (ties: the larger id), or its writer; at that
                       // task's end
};

IdVector<BufferId, Lifetime> lifetimes(const Timeline& timeline);

}  // namespace strato
