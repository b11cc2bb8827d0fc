// A timeline as text for independent checkers: the command line's --dump-tasks.
#pragma once

#include <string>

#include "core/sim/timeline/timeline.h"

namespace strato {

// One JSON object a line in start order, a first line with residents; memory is of a device, or of
// a machine's host, where that is used: "node-0 host". Beside what the simulator
// decided: "stream" ("compute", "communication", "tensor communication" of a collective inside a
// row of a mesh, or "links" of a transfer or a copy to or from a host), "part" (of its op or
// tensor, where that is not the whole), "micro" (of several micro-batches) and "again" (true of
// what the backward pass does once more).
std::string dump_tasks(const Timeline& timeline);

}  // namespace strato
