// In which order ranks execute a program's tasks: as they start in a timeline.
#pragma once

#include <vector>

#include "core/sim/timeline/timeline.h"

namespace strato {

// Every task once, by (start, id); one that would come before a dependency follows it.
std::vector<TaskId> execution_order(const Timeline& timeline);

}  // namespace strato
